#include "tools/runtime/musl_programs.h"

#include <string.h>

#include <string_view>

#include "profiler/record/first.h"

namespace kymo {
namespace {

constexpr std::string_view kPreload = "LD_PRELOAD=";
constexpr std::string_view kName = "libkymo_";

// Calls word(text) for each library that a value of LD_PRELOAD names.
template <typename Word>
void ForEachLibrary(std::string_view value, Word word) noexcept {
  while (!value.empty()) {
    const size_t end = value.find_first_of(": ");
    const std::string_view library = record::First(value, end);
    if (!library.empty()) word(library);
    if (end == std::string_view::npos) return;
    value.remove_prefix(end + 1);
  }
}

bool IsOfKymo(std::string_view library) noexcept {
  const size_t slash = library.rfind('/');
  if (slash != std::string_view::npos) library.remove_prefix(slash + 1);
  return library.starts_with(kName);
}

bool IsPreload(const char* word) noexcept {
  return strncmp(word, kPreload.data(), kPreload.size()) == 0;
}

}  // namespace

const char* PreloadOfKymo(Words envp) noexcept {
  for (; envp != nullptr && *envp != nullptr; ++envp) {
    if (!IsPreload(*envp)) continue;
    const char* const value = *envp + kPreload.size();
    bool has_kymo = false;
    ForEachLibrary(value, [&](std::string_view library) {
      has_kymo |= IsOfKymo(library);
    });
    if (has_kymo) return value;
  }
  return nullptr;
}

size_t CountWords(Words words) noexcept {
  size_t count = 0;
  while (words[count] != nullptr) ++count;
  return count;
}

void LeaveOutPreloadOfKymo(Words envp, char** words, char* text) noexcept {
  const char* const preload = PreloadOfKymo(envp);
  for (; *envp != nullptr; ++envp) {
    if (*envp + kPreload.size() != preload) {
      *words++ = *envp;
      continue;
    }
    memcpy(text, kPreload.data(), kPreload.size());
    char* end = text + kPreload.size();
    ForEachLibrary(preload, [&](std::string_view library) {
      if (IsOfKymo(library)) return;
      if (end != text + kPreload.size()) *end++ = ':';
      memcpy(end, library.data(), library.size());
      end += library.size();
    });
    *end = '\0';
    if (end != text + kPreload.size()) *words++ = text;
  }
  *words = nullptr;
}

}  // namespace kymo
