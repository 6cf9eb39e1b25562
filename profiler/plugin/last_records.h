// last_records.h - how records are saved if the recording process is killed.
//
//   // A session, when it is prepared:
//   const auto last = kymo::LastRecords::Of(options.shared);
//   last->descriptors.push_back(fd);
//   last->savers.push_back([this] { SaveLast(); });
//   // The command, with all sessions prepared and while it has one thread:
//   if (fork() == 0) {
//     AwaitTheEndOf(command);
//     for (const auto& save : last->savers) save();
//   }
//
// The savers run in the copy of the process that was made then. They know
// nothing of what the command did later, except in memory and files that both
// share.
#ifndef KYMO_PROFILER_PLUGIN_LAST_RECORDS_H_
#define KYMO_PROFILER_PLUGIN_LAST_RECORDS_H_

#include <functional>
#include <memory>
#include <vector>

#include "profiler/plugin/shared_parts.h"

namespace kymo {

struct LastRecords {
  // What the savers need of the process's descriptors.
  std::vector<int> descriptors;
  std::vector<std::function<void()>> savers;

  // The recording's own. If `parts` is null, nobody shares it.
  static std::shared_ptr<LastRecords> Of(
      const std::shared_ptr<SharedParts>& parts) {
    const auto make = [] { return std::make_shared<LastRecords>(); };
    return parts == nullptr ? make() : *parts->Get<LastRecords>(make);
  }
};

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_LAST_RECORDS_H_
