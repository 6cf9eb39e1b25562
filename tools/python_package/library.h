// library.h - what kymo/_library.py calls, in C.
//
//   kymo_python_start(&functions);
//   void* trace;
//   char* text;
//   if (kymo_python_open(flags, 1, paths, 1, &trace, &text) == 0) {
//     kymo::arrow::Stream* stream;
//     if (kymo_python_table(trace, "events", 0, 0, &stream, &text) == 0) ...
//     kymo_python_close(trace);
//   }
//   kymo_python_free(text);
//
// Functions that may be wrong return 0, or the number of an absl::StatusCode
// and its message in `text`. If a signal's handler raised an exception of
// Python, that is set. For this package alone: names and types change with it.
//
// Threads: all calls hold Python's lock; long ones give it back meanwhile. One
//   call at a time for each trace.
// Ownership: kymo_python_free frees texts. A stream and its arrays keep what
//   they need; the trace may be closed before them.
#ifndef KYMO_TOOLS_PYTHON_PACKAGE_LIBRARY_H_
#define KYMO_TOOLS_PYTHON_PACKAGE_LIBRARY_H_

#include <stddef.h>
#include <stdint.h>

#include "profiler/arrow/c_data.h"
#include "tools/python_package/python_calls.h"

extern "C" {

// The first call.
void kymo_python_start(const kymo::python::PythonFunctions* functions);
void kymo_python_free(char* text);

// The version, the tables with their columns, and the ready queries, in JSON.
char* kymo_python_about();

// On success, `text` has the files' findings.
int kymo_python_open(const char* const* flags, size_t flag_count,
                     const char* const* paths, size_t path_count, void** trace,
                     char** text);
void kymo_python_close(void* trace);

int64_t kymo_python_row_count(void* trace, const char* table);
int kymo_python_table(void* trace, const char* table,
                      const char* const* columns, size_t column_count,
                      kymo::arrow::Stream** stream, char** text);

// Rows that are kept, and can be read as often as one likes.
int kymo_python_sql(void* trace, const char* sql, size_t size, void** rows,
                    char** text);
int kymo_python_averages(void* trace, const char* const* flags,
                         size_t flag_count, void** rows, char** text);
int64_t kymo_python_rows_count(void* rows);
kymo::arrow::Stream* kymo_python_rows_stream(void* rows);
void kymo_python_rows_close(void* rows);

// What `kymo report` prints.
int kymo_python_report(void* trace, const char* const* flags, size_t flag_count,
                       char** text);

void kymo_python_stream_close(kymo::arrow::Stream* stream);
// The destructors of capsules with a stream or a schema, which no reader needs
// to have taken.
void kymo_python_stream_capsule_end(void* capsule);
void kymo_python_schema_capsule_end(void* capsule);
// A schema for a capsule: that of the stream.
int kymo_python_schema(kymo::arrow::Stream* stream,
                       kymo::arrow::Schema** schema, char** text);

}  // extern "C"

#endif  // KYMO_TOOLS_PYTHON_PACKAGE_LIBRARY_H_
