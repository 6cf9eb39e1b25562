#include "tests/conformance/files.h"

#include <zlib.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"

namespace kymo::conformance {
namespace {

namespace fs = std::filesystem;

constexpr size_t kTarBlock = 512;

absl::StatusOr<std::string> Unzip(const std::string& path) {
  const gzFile in = gzopen(path.c_str(), "rb");
  if (in == nullptr) {
    return absl::NotFoundError(absl::StrCat("cannot open ", path));
  }
  std::string text;
  char block[1 << 16];
  int count;
  while ((count = gzread(in, block, sizeof(block))) > 0) {
    text.append(block, static_cast<size_t>(count));
  }
  const int closed = gzclose(in);
  if (count < 0 || closed != Z_OK) {
    return absl::DataLossError(absl::StrCat(path, " is not whole gzip data"));
  }
  return text;
}

// A field of a header: text up to its first zero.
std::string Field(std::string_view header, size_t begin, size_t size) {
  const std::string_view field = header.substr(begin, size);
  return std::string(field.substr(0, field.find('\0')));
}

}  // namespace

absl::StatusOr<Files> ReadFolder(const std::string& path) {
  std::error_code error;
  Files files;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    if (!in.good()) {
      return absl::PermissionDeniedError(
          absl::StrCat("cannot read ", entry.path().string()));
    }
    files[entry.path().filename()] =
        std::string(std::istreambuf_iterator<char>(in), {});
  }
  if (error) {
    return absl::NotFoundError(
        absl::StrCat("cannot list ", path, ": ", error.message()));
  }
  return files;
}

absl::Status WriteFolder(const std::string& path, const Files& files) {
  std::error_code error;
  fs::create_directories(path, error);
  for (const auto& [name, content] : files) {
    std::ofstream out(fs::path(path) / name, std::ios::binary);
    out << content;
    if (!out.flush().good()) {
      return absl::UnavailableError(
          absl::StrCat("cannot write ", path, "/", name));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Files> ReadArchive(const std::string& path) {
  KYMO_ASSIGN_OR_RETURN(const std::string text, Unzip(path));
  Files files;
  const std::string_view archive(text);
  for (size_t at = 0; at + kTarBlock <= archive.size();) {
    const std::string_view header = archive.substr(at, kTarBlock);
    const std::string name = Field(header, 0, 100);
    if (name.empty()) break;  // the end
    const size_t size =
        std::strtoull(Field(header, 124, 12).c_str(), nullptr, 8);
    at += kTarBlock;
    if (size > archive.size() - at) {
      return absl::DataLossError(absl::StrCat(path, " ends within ", name));
    }
    files[name] = std::string(archive.substr(at, size));
    at += (size + kTarBlock - 1) / kTarBlock * kTarBlock;
  }
  return files;
}

}  // namespace kymo::conformance
