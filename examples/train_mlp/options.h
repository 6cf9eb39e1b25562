// options.h - the command line of train_mlp.
//
//   Options options;
//   std::string problem = ParseOptions({"--epochs=3"}, options);
//
// Flags have the form --name=value; kUsage lists them.
#ifndef KYMO_EXAMPLES_TRAIN_MLP_OPTIONS_H_
#define KYMO_EXAMPLES_TRAIN_MLP_OPTIONS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mlp {

struct Options {
  int64_t epochs = 25;
  int64_t batch_size = 64;
  int64_t hidden = 128;
  int64_t threads = 2;
  int64_t seed = 1;
  std::string counts;
  bool help = false;
};

inline constexpr std::string_view kUsage =
    R"(Trains a small network on two half moons.

  --epochs=N      passes over the training set (25)
  --batch_size=N  points per step (64)
  --hidden=N      width of each of the two hidden layers (128)
  --threads=N     threads that multiply matrices (2)
  --seed=N        of data, weights and order (1)
  --counts=FILE   write how often each range was entered, as JSON
)";

// Returns what is wrong with `arguments`; empty when nothing is.
[[nodiscard]] std::string ParseOptions(
    std::span<const std::string_view> arguments, Options& options);

}  // namespace mlp

#endif  // KYMO_EXAMPLES_TRAIN_MLP_OPTIONS_H_
