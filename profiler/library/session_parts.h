// session_parts.h - what the sessions of this process have in common.
//
//   if (plan.session.with_stack) CaptureStacks();
//   MetadataMap metadata = MetadataOf(options, plan.use_device,
//                                     RandomTraceId(), distributed_info);
//
// Threads: any.
#ifndef KYMO_PROFILER_LIBRARY_SESSION_PARTS_H_
#define KYMO_PROFILER_LIBRARY_SESSION_PARTS_H_

#include <map>
#include <string>

#include "kymo/profile_options.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/session/distributed_info.h"
#include "profiler/session/recording.h"

namespace kymo {

// Keys with JSON texts.
using MetadataMap = std::map<std::string, std::string>;

// A version-4 UUID as 32 hexadecimal digits.
std::string RandomTraceId();

// From now on, operations can be recorded with their stacks.
void CaptureStacks();

// What a trace says of the session that made it.
MetadataMap MetadataOf(const ProfileOptions& options,
                       const std::string& use_device,
                       const std::string& trace_id,
                       const DistributedInfo& info);

// Warnings of a recording that has finished: what its backends have to say, and
// each kind of loss, so that nobody takes the rest for all.
void WarnOfTroubles(const Recording& recording,
                    const model::LossLedger& ledger);

}  // namespace kymo

#endif  // KYMO_PROFILER_LIBRARY_SESSION_PARTS_H_
