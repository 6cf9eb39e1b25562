#include "importers/load/find_importer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/owned_descriptor.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"

namespace kymo {
namespace {

constexpr size_t kHeadBytes = size_t{64} << 10;

absl::Status FileError(const std::string& path, int error) {
  return absl::ErrnoToStatus(error, absl::StrCat("cannot read ", path));
}

absl::StatusOr<std::string> ReadPlain(const std::string& path) {
  const OwnedDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return FileError(path, errno);
  struct stat about;
  if (fstat(file.get(), &about) != 0) return FileError(path, errno);
  if (S_ISDIR(about.st_mode)) return FileError(path, EISDIR);
  std::string head(kHeadBytes, '\0');
  size_t size = 0;
  while (size < head.size()) {
    const ssize_t got =
        TEMP_FAILURE_RETRY(read(file.get(), &head[size], head.size() - size));
    if (got < 0) return FileError(path, errno);
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  head.resize(size);
  return head;
}

// Unpacks as much as possible of the beginning.
std::string Unpack(std::string& packed) {
  std::string head(kHeadBytes, '\0');
  z_stream stream = {};
  constexpr int kGzipWindow = 15 + 16;
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) return "";
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(head.data());
  stream.avail_out = static_cast<uInt>(head.size());
  // The result does not matter: only the beginning is needed.
  inflate(&stream, Z_SYNC_FLUSH);
  head.resize(stream.total_out);
  inflateEnd(&stream);
  return head;
}

// By its name, since messages of Protocol Buffers do not say what they are.
bool IsOfPerfetto(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  return path.ends_with(".pftrace") || path.ends_with(".perfetto-trace");
}

// Of a file that no importer reads: what it is, and what to do. Inlined, GCC 12
// takes `head` for uninitialized.
[[gnu::noinline]] std::string_view AdviceFor(std::string_view head) {
  using std::literals::operator""sv;
  if (head.starts_with("\x28\xB5\x2F\xFD"sv)) {
    return "this file is compressed with zstd; decompress it first (zstd -d)";
  }
  if (head.starts_with("\xFD\x37zXZ\0"sv)) {
    return "this file is compressed with xz; decompress it first (xz -d)";
  }
  if (head.starts_with("BZh"sv)) {
    return "this file is compressed with bzip2; decompress it first (bzip2 -d)";
  }
  if (head.starts_with("\xFF\xFE"sv) || head.starts_with("\xFE\xFF"sv)) {
    return "this is text in UTF-16, which PowerShell writes, for example; make "
           "it UTF-8 first (iconv -f UTF-16 -t UTF-8)";
  }
  // An importer of JSON would take it for a trace.
  const size_t name = head.find_first_not_of(" \n", 1);
  if (head.starts_with('{') && name != head.npos &&
      head.substr(name).starts_with("\"schema_version\":")) {
    return "this is a summary (--export=summary): it has the sums of a "
           "recording, but not its events; give the trace.json or kymo.raw of "
           "the same recording";
  }
  return "";
}

}  // namespace

absl::StatusOr<std::string> ReadFileHead(const std::string& path) {
  absl::StatusOr<std::string> head = ReadPlain(path);
  if (head.ok() && head->starts_with("\x1f\x8b")) return Unpack(*head);
  return head;
}

absl::StatusOr<const TraceImporter*> FindImporter(
    const std::string& path, const ImporterRegistry& importers) {
  KYMO_ASSIGN_OR_RETURN(const std::string head, ReadFileHead(path));
  if (const std::string_view advice = AdviceFor(head); !advice.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", ToAbsl(advice)));
  }
  for (const TraceImporter* importer : importers.List()) {
    if (importer->Recognizes(head)) return importer;
  }
  if (head.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path,
                     ": the file is empty, or gzip that unpacks to "
                     "nothing"));
  }
  if (IsOfPerfetto(path)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": this is a file for Perfetto, which Kymo writes, but does not read; "
        "take the trace.json of the same recording (--export=chrome), or open "
        "this file in https://ui.perfetto.dev"));
  }
  constexpr size_t kShownBytes = 24;
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": no importer knows this file, which begins with \"",
                   absl::CHexEscape(head.substr(0, kShownBytes)),
                   "\"; --importer=NAME (LoadOptions::importer) reads it "
                   "as one of: ",
                   importers.Names()));
}

}  // namespace kymo
