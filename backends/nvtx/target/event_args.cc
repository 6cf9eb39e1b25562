#include "backends/nvtx/target/event_args.h"

#include <stdio.h>

#include <limits>

namespace kymo::nvtx {

uint32_t Key::IdSlow() noexcept {
  const std::string_view text = literal_;
  const uint32_t id = record::Host().intern(text.data(), text.size());
  id_.store(id, std::memory_order_relaxed);
  return id;
}

void EventArgs::AddUint(uint32_t key, uint64_t value) noexcept {
  if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return AddInt(key, static_cast<int64_t>(value));
  }
  Begin();
  AppendNumber(value);
  AddText(key, Appended());
}

void EventArgs::AppendNumber(int64_t value) noexcept {
  uint64_t magnitude = static_cast<uint64_t>(value);
  if (value < 0) {
    Append("-");
    magnitude = 0 - magnitude;
  }
  AppendNumber(magnitude);
}

void EventArgs::AppendNumber(uint64_t value) noexcept {
  char digits[20];
  size_t at = sizeof(digits);
  do {
    digits[--at] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  Append({digits + at, sizeof(digits) - at});
}

void EventArgs::AppendNumber(double value) noexcept {
  char text[32];
  const int size = snprintf(text, sizeof(text), "%.17g", value);
  // The program's locale may have another point, of several bytes.
  size_t length = 0;
  for (int i = 0; i < size; ++i) {
    const char c = text[i];
    const bool is_point =
        (c < '0' || c > '9') && (c < 'a' || c > 'z') && c != '-' && c != '+';
    if (!is_point) {
      text[length++] = c;
    } else if (length == 0 || text[length - 1] != '.') {
      text[length++] = '.';
    }
  }
  Append({text, length});
}

}  // namespace kymo::nvtx
