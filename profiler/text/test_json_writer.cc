// Prints texts and numbers at random with their JSON, one pair a line, for
// json_roundtrip_test to read back with Python's own reader:
//
//   s <bytes as hex> <json>
//   d <double as C hex float> <json>
//   u <ns> <json>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>

#include "profiler/text/json_text.h"

namespace kymo::json {
namespace {

void PrintString(const std::string& text) {
  std::string json;
  AppendJsonString(json, text);
  std::printf("s ");
  for (const char c : text) std::printf("%02x", c & 0xFF);
  std::printf("%s %s\n", text.empty() ? "-" : "", json.c_str());
}

void PrintAll() {
  std::mt19937_64 random(1);
  // Bytes at random, mostly of the kinds that make trouble.
  static constexpr unsigned char kPool[] = {
      '"',  '\\', '/',  0x00, 0x09, 0x0A, 0x1F, 0x7F, 0x80, 0xBF, 0xC0, 0xC2,
      0xE0, 0xA0, 0xED, 0xEF, 0xF0, 0x90, 0xF4, 0x8F, 0xF5, 0xFF, 'a',  ' '};
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (uint64_t n = random() % 12; n > 0; --n) {
      text += static_cast<char>(random() % 3 ? kPool[random() % sizeof(kPool)]
                                             : random() % 256);
    }
    PrintString(text);
  }
  for (int i = 0; i < 5'000; ++i) {
    const uint64_t bits = random();
    double value;
    static_assert(sizeof(value) == sizeof(bits));
    __builtin_memcpy(&value, &bits, sizeof(value));
    if (value != value) continue;
    std::string json;
    AppendDouble(json, value);
    std::printf("d %a %s\n", value, json.c_str());
  }
  for (int i = 0; i < 5'000; ++i) {
    const int64_t ns = static_cast<int64_t>(random() >> random() % 64);
    std::string json;
    AppendMicroseconds(json, ns);
    std::printf("u %lld %s\n", static_cast<long long>(ns), json.c_str());
  }
}

}  // namespace
}  // namespace kymo::json

int main() { kymo::json::PrintAll(); }
