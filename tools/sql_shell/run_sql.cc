#include "tools/sql_shell/run_sql.h"

#include <signal.h>
#include <unistd.h>

#include <span>
#include <string>
#include <vector>

#include "profiler/base/status_macros.h"
#include "profiler/query/statements.h"

namespace kymo::tools {
namespace {

// While it lives, the process ends some time after the queries' limit.
class HardStop {
 public:
  explicit HardStop(const QueryLimits& limits) {
    if (!limits.is_alone || limits.max_time_ns <= 0) return;
    struct sigaction action = {};
    action.sa_handler = [](int) {
      EndAtOnce(
          "the query took longer than its limit, and one of its functions did "
          "not end; try shorter texts for instr, replace and the like\n",
          1);
    };
    is_set_ = sigaction(SIGALRM, &action, &before_) == 0;
    constexpr int64_t kGraceSeconds = 2;
    alarm(static_cast<unsigned>(limits.max_time_ns / 1'000'000'000 +
                                kGraceSeconds));
  }
  HardStop(const HardStop&) = delete;
  HardStop& operator=(const HardStop&) = delete;
  ~HardStop() {
    if (!is_set_) return;
    alarm(0);
    sigaction(SIGALRM, &before_, nullptr);
  }

 private:
  bool is_set_ = false;
  struct sigaction before_ = {};
};

}  // namespace

absl::Status SqlRun::Run(std::string_view sql) {
  const query::StatementList list = query::SplitStatements(sql);
  for (const std::string_view statement : list.statements) {
    KYMO_RETURN_IF_ERROR(RunOne(statement));
  }
  if (!list.rest.empty()) return RunOne(list.rest);
  if (list.statements.empty()) return RunOne(sql);  // says that it is empty
  return absl::OkStatus();
}

void EndAtOnce(std::string_view message, int status) noexcept {
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, message.data(), message.size());
  _exit(status);
}

absl::Status SqlRun::RunOne(std::string_view statement) {
  const bool has_gaps = format_ == query::ResultFormat::kText ||
                        format_ == query::ResultFormat::kMarkdown;
  query::ResultWriter writer(format_, output_,
                             queries_.limits().max_memory_bytes);
  const HardStop stop(queries_.limits());
  KYMO_RETURN_IF_ERROR(queries_.Run(
      statement,
      [&](std::vector<std::string> columns) {
        if (!is_first_ && has_gaps) KYMO_RETURN_IF_ERROR(output_("\n"));
        is_first_ = false;
        return writer.Begin(std::move(columns));
      },
      [&](std::span<const QueryValue> row) { return writer.Add(row); }));
  return writer.End();
}

}  // namespace kymo::tools
