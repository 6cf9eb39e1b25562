#include "profiler/analysis/statistics/run_speeds.h"

#include "profiler/analysis/statistics/samples.h"

namespace kymo::analysis {

std::vector<double> RunSpeeds(std::span<const std::vector<double>> rows) {
  if (rows.empty()) return {};
  std::vector<double> typical;
  for (const std::vector<double>& row : rows) typical.push_back(Median(row));
  std::vector<double> speeds;
  for (size_t run = 0; run < rows[0].size(); ++run) {
    std::vector<double> ratios;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (typical[i] > 0) ratios.push_back(rows[i][run] / typical[i]);
    }
    const double speed = Median(ratios);
    speeds.push_back(speed > 0 ? speed : 1);
  }
  return speeds;
}

}  // namespace kymo::analysis
