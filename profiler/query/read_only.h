// read_only.h - lets a database of SQLite read, and do nothing else.
//
//   ReadOnly guard;
//   guard.Watch(database);       // from here on
//   ...                          // a statement gave SQLITE_AUTH
//   guard.TakeDenied()           // "INSERT into events"
//
// Permitted are SELECT, what it reads and calls, WITH RECURSIVE, and the
// pragmas that list tables, columns and functions.
// Ownership: this must outlive the database.
#ifndef KYMO_PROFILER_QUERY_READ_ONLY_H_
#define KYMO_PROFILER_QUERY_READ_ONLY_H_

#include <string>
#include <utility>

struct sqlite3;

namespace kymo::query {

class ReadOnly {
 public:
  ReadOnly() = default;
  ReadOnly(const ReadOnly&) = delete;
  ReadOnly& operator=(const ReadOnly&) = delete;

  void Watch(sqlite3* database);

  // What was denied last; empty: nothing.
  std::string TakeDenied() { return std::exchange(denied_, ""); }

 private:
  static int Permit(void* self, int action, const char* first,
                    const char* second, const char* database,
                    const char* trigger);
  std::string denied_;
};

}  // namespace kymo::query

#endif  // KYMO_PROFILER_QUERY_READ_ONLY_H_
