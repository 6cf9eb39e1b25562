#include "backends/sampling/python/python_program.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace kymo::sampling {
namespace {

bool IsNamedPython(const std::filesystem::path& path) {
  return path.filename().string().starts_with("python");
}

// Of "#!/usr/bin/env -S python3 -u": "python3". Empty if it is no script.
std::string InterpreterOf(const std::string& path) {
  constexpr int kMostBytes = 256;  // that the kernel reads
  std::string line(kMostBytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(line.data(), kMostBytes);
  line.resize(static_cast<size_t>(file.gcount()));
  if (!line.starts_with("#!")) return "";
  std::istringstream words(line.substr(2, line.find('\n') - 2));
  std::string word;
  words >> word;
  if (std::filesystem::path(word).filename() != "env") return word;
  while (words >> word) {
    const bool is_name = word[0] != '-' && word.find('=') == std::string::npos;
    if (is_name) return word;
  }
  return "";
}

}  // namespace

bool IsRunByPython(const std::string& path) {
  if (IsNamedPython(path)) return true;
  std::error_code error;
  const auto target = std::filesystem::canonical(path, error);
  if (error || !std::filesystem::is_regular_file(target, error)) return false;
  return IsNamedPython(target) || IsNamedPython(InterpreterOf(path));
}

}  // namespace kymo::sampling
