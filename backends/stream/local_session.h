// local_session.h - records threads of this process, into its own memory. If a
// collector records the process, it uses the collector's arena.
//
// Errors: those of profiler/record/host/host.h, in the words of torch.profiler
// where it has the same error.
#ifndef KYMO_BACKENDS_STREAM_LOCAL_SESSION_H_
#define KYMO_BACKENDS_STREAM_LOCAL_SESSION_H_

#include <memory>

#include "profiler/plugin/activity_backend.h"
#include "profiler/record/host/host.h"

namespace kymo::stream {

std::unique_ptr<ActivitySession> NewLocalSession(
    const record::SessionRequest& request);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_LOCAL_SESSION_H_
