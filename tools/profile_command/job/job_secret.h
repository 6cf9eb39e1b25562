// job_secret.h - what the ranks of one job know, and strangers do not.
//
//   const JobSecret secret(token);            // a text that all ranks have
//   const uint64_t proof = secret.Sign(challenge);
//
// A rank proves that it has the token by signing what the other side made up,
// so the token itself never goes through the network. The signature is
// SipHash-2-4, a keyed hash made for short messages.
//
// Threads: any.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_JOB_JOB_SECRET_H_
#define KYMO_TOOLS_PROFILE_COMMAND_JOB_JOB_SECRET_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace kymo::tools {

class JobSecret {
 public:
  explicit JobSecret(std::string_view token);
  uint64_t Sign(std::string_view message) const;

 private:
  std::array<uint64_t, 2> key_;
};

// SipHash-2-4 of a message.
uint64_t SipHash(const std::array<uint64_t, 2>& key, std::string_view message);

// From the kernel's random numbers.
uint64_t RandomNumber();

// 128 random bits, in hexadecimal digits.
std::string NewToken();

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_JOB_JOB_SECRET_H_
