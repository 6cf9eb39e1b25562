// test_database.h - small databases for tests of importers.
//
//   const std::string path = MakeDatabase("a.sqlite", {"CREATE TABLE t (x)",
//                                         "INSERT INTO t VALUES (1)"});
//   const ImportedTrace imported = ImportOrDie(*importer, path);
//   const model::Trace trace = TraceOf(std::move(imported));
#ifndef KYMO_IMPORTERS_SQLITE_TEST_DATABASE_H_
#define KYMO_IMPORTERS_SQLITE_TEST_DATABASE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/trace.h"
#include "profiler/plugin/trace_importer.h"

namespace kymo::sqlite {

// Makes a new file with these statements, in the test's folder for temporary
// files. Returns its path.
std::string MakeDatabase(const std::string& name,
                         const std::vector<std::string>& statements);

std::string ReadFile(const std::string& path);
void WriteFile(const std::string& path, std::string_view bytes);

ImportedTrace ImportOrDie(const TraceImporter& importer,
                          const std::string& path);

// Normalises the trace and checks that it is valid.
model::Trace TraceOf(ImportedTrace imported);

// The finding of a rule; null if there is none.
const ImportFinding* FindRule(const std::vector<ImportFinding>& findings,
                              std::string_view rule);

// Changes the bytes of a good database and imports each result, for
// KYMO_FUZZ_SECONDS (default 1). An import must not crash, hang or make a
// broken trace. The changes are the same each time; only how many are tried
// differs.
void ImportMutations(const TraceImporter& importer, const std::string& good);

// The first event of this name; kNoEvent if there is none.
model::EventIndex EventNamed(const model::Trace& trace, std::string_view name);
// The value of an argument.
std::optional<int64_t> IntArg(const model::Trace& trace,
                              model::EventIndex event, std::string_view key);
std::string TextArg(const model::Trace& trace, model::EventIndex event,
                    std::string_view key);

// All events, as
//   "PROCESS/[device D/]ID NAME START-END #CORRELATION TYPE; KEY=VALUE ...",
// with times from `origin_ns` on. Events without details have no correlation.
std::vector<std::string> TextsOf(const model::Trace& trace,
                                 TimeNs origin_ns = 0);

}  // namespace kymo::sqlite

#endif  // KYMO_IMPORTERS_SQLITE_TEST_DATABASE_H_
