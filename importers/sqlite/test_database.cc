#include "importers/sqlite/test_database.h"

#include <sqlite3.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "profiler/base/strings.h"
#include "profiler/model/activity_type.h"
#include "profiler/normalize/normalize.h"

namespace kymo::sqlite {
namespace {

// Overwrites a few bytes, anywhere or in the headers of pages, or cuts the file
// off.
std::string Mutated(const std::string& good, std::mt19937& random) {
  const auto below = [&](size_t n) { return random() % n; };
  std::string bytes = good;
  if (below(10) == 0) {
    bytes.resize(below(bytes.size()));
    return bytes;
  }
  constexpr size_t kPage = 1024;
  for (size_t changes = 1 + below(6); changes > 0; --changes) {
    size_t at = below(bytes.size());
    if (below(2) == 0) at = at / kPage * kPage + below(64);
    if (at >= bytes.size()) continue;
    static constexpr unsigned char kOdd[] = {0x00, 0x01, 0x7f, 0x80,
                                             0xff, 0x0d, 0x05, 0x02};
    bytes[at] = static_cast<char>(below(2) == 0 ? kOdd[below(std::size(kOdd))]
                                                : below(256));
  }
  return bytes;
}

}  // namespace

std::string MakeDatabase(const std::string& name,
                         const std::vector<std::string>& statements) {
  const std::string path = testing::TempDir() + "/" + name;
  unlink(path.c_str());
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  // Small pages, so that a small database has several. No statement waits for
  // the disk.
  sqlite3_exec(database,
               "PRAGMA page_size=1024; PRAGMA synchronous=OFF; PRAGMA "
               "journal_mode=MEMORY",
               nullptr, nullptr, nullptr);
  for (const std::string& statement : statements) {
    char* error = nullptr;
    EXPECT_EQ(
        sqlite3_exec(database, statement.c_str(), nullptr, nullptr, &error),
        SQLITE_OK)
        << statement << ": " << (error == nullptr ? "" : error);
    sqlite3_free(error);
  }
  sqlite3_close(database);
  return path;
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void WriteFile(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

ImportedTrace ImportOrDie(const TraceImporter& importer,
                          const std::string& path) {
  absl::StatusOr<ImportedTrace> imported = importer.Import(path, {});
  EXPECT_TRUE(imported.ok()) << imported.status();
  return imported.ok() ? *std::move(imported) : ImportedTrace();
}

model::Trace TraceOf(ImportedTrace imported) {
  absl::StatusOr<model::Trace> trace =
      Normalize(std::move(imported.shards),
                {.start_ns = imported.start_ns, .end_ns = imported.end_ns});
  EXPECT_TRUE(trace.ok()) << trace.status();
  if (!trace.ok()) return model::Trace(model::TraceData());
  const absl::Status valid = model::ValidateTrace(*trace);
  EXPECT_TRUE(valid.ok()) << valid;
  return *std::move(trace);
}

const ImportFinding* FindRule(const std::vector<ImportFinding>& findings,
                              std::string_view rule) {
  for (const ImportFinding& finding : findings) {
    if (finding.rule == rule) return &finding;
  }
  return nullptr;
}

void ImportMutations(const TraceImporter& importer, const std::string& good) {
  constexpr int kDefaultSeconds = 1;
  const char* const wanted = std::getenv("KYMO_FUZZ_SECONDS");
  const int seconds = wanted == nullptr ? kDefaultSeconds : std::atoi(wanted);
  const std::string bytes = ReadFile(good);
  const std::string path = good + ".mutated";
  std::mt19937 random(1);
  size_t read = 0;
  size_t refused = 0;
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin <
         std::chrono::seconds(seconds)) {
    WriteFile(path, Mutated(bytes, random));
    absl::StatusOr<ImportedTrace> imported = importer.Import(path, {});
    if (imported.ok()) {
      ++read;
      TraceOf(*std::move(imported));
    } else {
      ++refused;
      EXPECT_FALSE(imported.status().message().empty());
    }
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "mutation " << read + refused << " is in " << path;
      return;
    }
  }
  EXPECT_GT(read, 0u);
  EXPECT_GT(refused, 0u);
  testing::Test::RecordProperty("read", static_cast<int>(read));
  testing::Test::RecordProperty("refused", static_cast<int>(refused));
}

model::EventIndex EventNamed(const model::Trace& trace, std::string_view name) {
  for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
    if (trace.EventName(i) == name) return i;
  }
  ADD_FAILURE() << "no event named " << name;
  return model::kNoEvent;
}

std::optional<int64_t> IntArg(const model::Trace& trace,
                              model::EventIndex event, std::string_view key) {
  for (const model::Arg& arg : trace.args(event)) {
    if (trace.Name(arg.key) == key) return arg.int_value();
  }
  return std::nullopt;
}

std::string TextArg(const model::Trace& trace, model::EventIndex event,
                    std::string_view key) {
  for (const model::Arg& arg : trace.args(event)) {
    if (trace.Name(arg.key) == key && arg.has_text()) {
      return std::string(trace.Name(arg.string_value()));
    }
  }
  return "";
}

std::vector<std::string> TextsOf(const model::Trace& trace, TimeNs origin_ns) {
  std::vector<std::string> texts;
  for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
    const model::Track& track = trace.tracks()[trace.track()[i]];
    std::string& text = texts.emplace_back(absl::StrCat(
        track.pid,
        track.kind == model::TrackKind::kStream
            ? absl::StrCat("/device ", track.device_index)
            : "",
        "/", track.id, " ", ToAbsl(trace.EventName(i)), " ",
        trace.start()[i] - origin_ns, "-", trace.end()[i] - origin_ns));
    if (trace.detail(i) != nullptr) {
      absl::StrAppend(&text, " #", trace.detail(i)->correlation_id);
    }
    absl::StrAppend(&text, " ",
                    ToAbsl(model::ActivityTypeName(trace.type()[i])));
    for (const model::Arg& arg : trace.args(i)) {
      absl::StrAppend(&text, "; ", ToAbsl(trace.Name(arg.key)), "=");
      if (arg.has_text()) {
        absl::StrAppend(&text, ToAbsl(trace.Name(arg.string_value())));
      } else if (arg.type == model::ArgType::kDouble) {
        absl::StrAppend(&text, arg.double_value());
      } else {
        absl::StrAppend(&text, arg.int_value());
      }
    }
  }
  return texts;
}

}  // namespace kymo::sqlite
