#include "tools/python_package/library.h"

#include <stdlib.h>
#include <string.h>

#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kymo/version.h"
#include "profiler/arrow/row_store.h"
#include "profiler/arrow/stream.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/query/ready_queries.h"
#include "profiler/tables/table.h"
#include "profiler/text/json_writer.h"
#include "tools/python_package/opened_trace.h"

namespace kymo::python {
namespace {

using Rows = std::shared_ptr<const arrow::StoredRows>;
using Trace = std::shared_ptr<OpenedTrace>;

Trace& TraceOf(void* trace) { return *static_cast<Trace*>(trace); }
Rows& RowsOf(void* rows) { return *static_cast<Rows*>(rows); }

std::vector<std::string> TextsOf(const char* const* texts, size_t count) {
  return {texts, texts + count};
}

char* CopyOf(std::string_view text) {
  return strndup(text.data(), text.size());
}

// Python is C: no exception may pass into it. `body` returns a status.
template <typename Body>
int Guarded(char** text, const Body& body) noexcept {
  absl::Status status;
  try {
    status = body();
    if (!status.ok()) *text = CopyOf(ToStd(status.message()));
  } catch (const std::bad_alloc&) {
    status = absl::ResourceExhaustedError("");
    *text = CopyOf("not enough memory; try a machine with more");
  }
  return static_cast<int>(status.code());
}

arrow::Stream* NewStream(std::unique_ptr<arrow::BatchSource> source) {
  auto stream = std::make_unique<arrow::Stream>();
  arrow::ExportStream(std::move(source), stream.get());
  return stream.release();
}

void WriteColumn(const tables::Column& column, json::JsonWriter& json) {
  json.BeginObject();
  json.Member("name", column.name);
  json.Member("type", tables::ColumnTypeName(column.type));
  json.Member("unit", column.unit);
  json.Member("references", column.references);
  json.Member("meaning", column.meaning);
  json.EndObject();
}

std::string AboutText() {
  std::string text;
  json::JsonWriter json(text);
  json.BeginObject();
  json.Member("version", KYMO_VERSION);
  json.Key("tables");
  json.BeginObject();
  for (const tables::Table& table : tables::AllTables()) {
    json.Key(table.name);
    json.BeginObject();
    json.Member("meaning", table.meaning);
    json.Key("columns");
    json.BeginArray();
    for (const tables::Column& column : table.columns) {
      WriteColumn(column, json);
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndObject();
  json.Key("queries");
  json.BeginObject();
  for (const query::ReadyQuery& query : query::ReadyQueries()) {
    json.Member(query.name, query.sql);
  }
  json.EndObject();
  json.EndObject();
  return text;
}

template <typename Struct>
void EndCapsule(void* capsule, const char* name) {
  auto* const held =
      static_cast<Struct*>(Python().capsule_pointer(capsule, name));
  if (held == nullptr) return;
  if (held->release != nullptr) held->release(held);
  delete held;
}

}  // namespace
}  // namespace kymo::python

using kymo::python::Guarded;
using kymo::python::TextsOf;
using kymo::python::TraceOf;
using kymo::python::WithoutLock;

void kymo_python_start(const kymo::python::PythonFunctions* functions) {
  kymo::python::SetPythonFunctions(*functions);
}

void kymo_python_free(char* text) { free(text); }

char* kymo_python_about() {
  return kymo::python::CopyOf(kymo::python::AboutText());
}

int kymo_python_open(const char* const* flags, size_t flag_count,
                     const char* const* paths, size_t path_count, void** trace,
                     char** text) {
  return Guarded(text, [&]() -> absl::Status {
    WithoutLock unlocked;
    KYMO_ASSIGN_OR_RETURN(
        kymo::python::Trace opened,
        kymo::python::OpenedTrace::Open(TextsOf(flags, flag_count),
                                        TextsOf(paths, path_count),
                                        [&] { return unlocked.MustStop(); }));
    *text = kymo::python::CopyOf(opened->Findings());
    *trace = new kymo::python::Trace(std::move(opened));
    return absl::OkStatus();
  });
}

void kymo_python_close(void* trace) { delete &TraceOf(trace); }

int64_t kymo_python_row_count(void* trace, const char* table) {
  return TraceOf(trace)->RowCount(table);
}

int kymo_python_table(void* trace, const char* table,
                      const char* const* columns, size_t column_count,
                      kymo::arrow::Stream** stream, char** text) {
  return Guarded(text, [&]() -> absl::Status {
    KYMO_ASSIGN_OR_RETURN(
        std::unique_ptr<kymo::arrow::BatchSource> source,
        TraceOf(trace)->Table(table, TextsOf(columns, column_count)));
    *stream = kymo::python::NewStream(std::move(source));
    return absl::OkStatus();
  });
}

// Another thread may close the trace while a call has given Python's lock back,
// so each such call holds it.
int kymo_python_sql(void* trace, const char* sql, size_t size, void** rows,
                    char** text) {
  return Guarded(text, [&]() -> absl::Status {
    const kymo::python::Trace held = TraceOf(trace);
    WithoutLock unlocked;
    KYMO_ASSIGN_OR_RETURN(kymo::python::Rows found, held->Sql({sql, size}, [&] {
      return unlocked.MustStop();
    }));
    *rows = new kymo::python::Rows(std::move(found));
    return absl::OkStatus();
  });
}

int kymo_python_averages(void* trace, const char* const* flags,
                         size_t flag_count, void** rows, char** text) {
  return Guarded(text, [&]() -> absl::Status {
    const kymo::python::Trace held = TraceOf(trace);
    const WithoutLock unlocked;
    KYMO_ASSIGN_OR_RETURN(kymo::python::Rows found,
                          held->Averages(TextsOf(flags, flag_count)));
    *rows = new kymo::python::Rows(std::move(found));
    return absl::OkStatus();
  });
}

int64_t kymo_python_rows_count(void* rows) {
  return static_cast<int64_t>(kymo::python::RowsOf(rows)->rows);
}

kymo::arrow::Stream* kymo_python_rows_stream(void* rows) {
  try {
    return kymo::python::NewStream(std::make_unique<kymo::arrow::StoredBatches>(
        kymo::python::RowsOf(rows)));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void kymo_python_rows_close(void* rows) { delete &kymo::python::RowsOf(rows); }

int kymo_python_report(void* trace, const char* const* flags, size_t flag_count,
                       char** text) {
  return Guarded(text, [&]() -> absl::Status {
    const kymo::python::Trace held = TraceOf(trace);
    const WithoutLock unlocked;
    KYMO_ASSIGN_OR_RETURN(const std::string report,
                          held->Report(TextsOf(flags, flag_count)));
    *text = kymo::python::CopyOf(report);
    return absl::OkStatus();
  });
}

void kymo_python_stream_close(kymo::arrow::Stream* stream) {
  if (stream->release != nullptr) stream->release(stream);
  delete stream;
}

void kymo_python_stream_capsule_end(void* capsule) {
  kymo::python::EndCapsule<kymo::arrow::Stream>(capsule, "arrow_array_stream");
}

void kymo_python_schema_capsule_end(void* capsule) {
  kymo::python::EndCapsule<kymo::arrow::Schema>(capsule, "arrow_schema");
}

int kymo_python_schema(kymo::arrow::Stream* stream,
                       kymo::arrow::Schema** schema, char** text) {
  return Guarded(text, [&]() -> absl::Status {
    auto made = std::make_unique<kymo::arrow::Schema>();
    if (stream->get_schema(stream, made.get()) != 0) throw std::bad_alloc();
    *schema = made.release();
    return absl::OkStatus();
  });
}
