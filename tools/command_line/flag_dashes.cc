#include "tools/command_line/flag_dashes.h"

#include <cstddef>
#include <string_view>

namespace kymo::tools {

std::string WithFlagDashes(std::string text) {
  constexpr std::string_view kSettings[] = {"sampling_hz", "sampling_sampler",
                                            "sampling_stack_bytes"};
  for (const std::string_view name : kSettings) {
    size_t at = text.find(name);
    while (at != std::string::npos) {
      const bool is_word = at == 0 || text[at - 1] == ' ';
      if (is_word) {
        text.insert(at, "--");
        at += 2;
      }
      at = text.find(name, at + name.size());
    }
  }
  return text;
}

}  // namespace kymo::tools
