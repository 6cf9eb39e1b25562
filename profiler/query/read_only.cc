#include "profiler/query/read_only.h"

#include <sqlite3.h>

#include <string_view>

#include "absl/strings/str_cat.h"
#include "profiler/base/strings.h"

namespace kymo::query {
namespace {

// Tells of tables, columns and functions; changes nothing.
bool IsHarmlessPragma(std::string_view name, const char* argument) {
  // With an argument, it must be one that names something, not a value to set.
  return name == "table_info" || name == "table_xinfo" ||
         (argument == nullptr &&
          (name == "table_list" || name == "function_list" ||
           name == "collation_list"));
}

// Statements about tables first change the table of tables.
std::string_view SchemaChange(int action) {
  switch (action) {
    case SQLITE_INSERT:
      return "CREATE (try WITH name AS (SELECT ...) SELECT ...)";
    case SQLITE_DELETE:
      return "DROP";
    default:
      return "ALTER";
  }
}

std::string_view ActionName(int action) {
  switch (action) {
    case SQLITE_INSERT:
      return "INSERT";
    case SQLITE_UPDATE:
      return "UPDATE";
    case SQLITE_DELETE:
      return "DELETE";
    case SQLITE_ATTACH:
      return "ATTACH";
    case SQLITE_DETACH:
      return "DETACH";
    case SQLITE_PRAGMA:
      return "PRAGMA";
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
      return "a transaction";
    case SQLITE_FUNCTION:
      return "the function";
    default:
      return "a change of the database";
  }
}

std::string Denial(int action, const char* of) {
  const std::string_view object = of == nullptr ? "" : of;
  if (object == "sqlite_master" || object == "sqlite_temp_master") {
    return std::string(SchemaChange(action));
  }
  std::string denial(ActionName(action));
  if (action == SQLITE_FUNCTION || action == SQLITE_PRAGMA) {
    absl::StrAppend(&denial, " ", ToAbsl(object));
  }
  return denial;
}

}  // namespace

void ReadOnly::Watch(sqlite3* database) {
  sqlite3_set_authorizer(database, Permit, this);
}

int ReadOnly::Permit(void* self, int action, const char* first,
                     const char* second, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      if (second != nullptr && std::string_view(second) != "load_extension") {
        return SQLITE_OK;
      }
      first = second;
      break;
    case SQLITE_PRAGMA:
      if (first != nullptr && IsHarmlessPragma(first, second)) return SQLITE_OK;
      break;
    default:
      break;
  }
  // The first denial is what the user wrote; others follow from it.
  std::string& denied = static_cast<ReadOnly*>(self)->denied_;
  if (denied.empty()) denied = Denial(action, first);
  return SQLITE_DENY;
}

}  // namespace kymo::query
