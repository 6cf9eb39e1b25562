#include "tools/profile_command/job/job_secret.h"

#include <bit>
#include <cstring>
#include <random>

#include "absl/strings/str_cat.h"

namespace kymo::tools {
namespace {

struct SipState {
  uint64_t a, b, c, d;

  void Round() {
    a += b;
    c += d;
    b = std::rotl(b, 13) ^ a;
    d = std::rotl(d, 16) ^ c;
    a = std::rotl(a, 32);
    c += b;
    a += d;
    b = std::rotl(b, 17) ^ c;
    d = std::rotl(d, 21) ^ a;
    c = std::rotl(c, 32);
  }
  void Take(uint64_t word) {
    d ^= word;
    Round();
    Round();
    a ^= word;
  }
};

}  // namespace

uint64_t SipHash(const std::array<uint64_t, 2>& key, std::string_view message) {
  SipState state = {.a = key[0] ^ 0x736f6d6570736575,
                    .b = key[1] ^ 0x646f72616e646f6d,
                    .c = key[0] ^ 0x6c7967656e657261,
                    .d = key[1] ^ 0x7465646279746573};
  const uint64_t size = message.size();
  while (message.size() >= sizeof(uint64_t)) {
    uint64_t word;
    memcpy(&word, message.data(), sizeof(word));
    state.Take(word);
    message.remove_prefix(sizeof(word));
  }
  // What is left over, and the size in the highest byte.
  uint64_t last = size << 56;
  for (size_t i = 0; i < message.size(); ++i) {
    last |= uint64_t{static_cast<unsigned char>(message[i])} << (8 * i);
  }
  state.Take(last);
  state.c ^= 0xff;
  for (int i = 0; i < 4; ++i) state.Round();
  return state.a ^ state.b ^ state.c ^ state.d;
}

JobSecret::JobSecret(std::string_view token)
    : key_({SipHash({1, 0}, token), SipHash({2, 0}, token)}) {}

uint64_t JobSecret::Sign(std::string_view message) const {
  return SipHash(key_, message);
}

uint64_t RandomNumber() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

std::string NewToken() {
  return absl::StrCat(absl::Hex(RandomNumber(), absl::kZeroPad16),
                      absl::Hex(RandomNumber(), absl::kZeroPad16));
}

}  // namespace kymo::tools
