// rank_protocol.h - what ranks say to the command of rank 0 (rank_server.h).
//
//   rank 0                          rank N
//   Greeting, with a challenge  ->
//                               <-  Hello: its rank, a challenge, its proof
//   Welcome, with a proof       ->
//                               <-  Ask, one after another
//
// A proof is the signature (job_secret.h) of both challenges and the rank. What
// follows is neither signed nor secret.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_JOB_RANK_PROTOCOL_H_
#define KYMO_TOOLS_PROFILE_COMMAND_JOB_RANK_PROTOCOL_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "tools/profile_command/job/job_secret.h"

namespace kymo::tools {

// The last character is another one for another version of these messages.
inline constexpr std::array<char, 8> kRankMagic = {'K', 'Y', 'M', 'O',
                                                   'R', 'K', 'S', '3'};
using Challenge = std::array<uint64_t, 2>;
using Release = std::array<char, 24>;  // of Kymo; the rest is 0

// Whatever the version, the magic and the release come first, so that a rank
// can say with whom it cannot talk.
struct Greeting {
  std::array<char, 8> magic;
  Release release;
  Challenge challenge;
};

struct Hello {
  std::array<char, 8> magic;
  int64_t rank;
  Challenge challenge;
  uint64_t proof;
};

struct Welcome {
  uint64_t proof;
};

enum class AskFor : uint64_t {
  // Rank 0 answers with 8 bytes when it has time. Then the rank sends 8 bytes
  // kRoundTrips times, and gets rank 0's CLOCK_MONOTONIC each time.
  kClock = 1,
  kAlive,      // `number` is another one than before; no answer
  kTrace,      // `number` bytes of trace.json follow; the answer: 8 bytes of 0
  kTraceGzip,  // the same of trace.json.gz
  kDone,       // number: whether there is a trace; the answer: 8 bytes of 0
  kSums,       // `number` bytes follow; the answer: kTaken or kRefused
  kListens,    // the rank takes sums on port `number`; no answer
  kWhereIs,    // rank `number`; the answer: WhereIs
  kBrokeOff,   // the rank left the job early at `number` ns; no answer
  kVerdict,    // whether rank 0 wants the trace; the answer: kTaken or kRefused
};

inline constexpr uint64_t kTaken = 0;
inline constexpr uint64_t kRefused = 1;

struct WhereIs {
  // Empty: on rank 0's machine.
  std::array<char, 62> host;
  uint16_t port;  // 0: not known
};

struct Ask {
  AskFor what;
  uint64_t number;
};

inline constexpr int kRoundTrips = 40;

inline Release ReleaseOf(std::string_view text) {
  Release release = {};
  std::ranges::copy(text.substr(0, release.size() - 1), release.begin());
  return release;
}

enum class ProofOf : char { kRank = 'r', kRankZero = '0' };

inline uint64_t Prove(const JobSecret& secret, ProofOf whose,
                      const Challenge& of_rank_zero, const Challenge& of_rank,
                      int64_t rank) {
  std::string text(1, static_cast<char>(whose));
  const auto append = [&text](const auto& value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  append(of_rank_zero);
  append(of_rank);
  append(rank);
  return secret.Sign(text);
}

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_JOB_RANK_PROTOCOL_H_
