#include "profiler/callbacks/lent_state.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>
#include <vector>

namespace kymo::internal {
namespace {

struct Loan {
  LoanId id = 0;
  record::SessionId given = record::kNoSession;
  StateOfThread before;
};

// The loans of one thread, oldest first.
struct Loans {
  std::vector<Loan> open;
  LoanId last_id;
};

// The upper bits of an id tell threads apart, also after a thread's end.
constexpr int kCountBits = 40;

// Plain words, readable at any time of a thread's life. Exit handlers and
// destructors of other thread locals may lend and return.
constinit thread_local Loans* loans = nullptr;
constinit thread_local bool is_ending = false;

void FreeLoans() noexcept {
  delete loans;
  loans = nullptr;
}

struct FreesAtThreadExit {
  ~FreesAtThreadExit() {
    is_ending = true;
    // Those of guards that another thread has destroyed, or will.
    while (loans != nullptr && !loans->open.empty()) {
      ReturnState(loans->open.back().id);
    }
    if (loans != nullptr) FreeLoans();
  }
};

Loans& OwnLoans() {
  if (loans == nullptr) {
    static constinit std::atomic<uint64_t> threads = 0;
    const uint64_t thread = threads.fetch_add(1, std::memory_order_relaxed) + 1;
    loans = new Loans{.open = {}, .last_id = thread << kCountBits};
    if (!is_ending) static thread_local const FreesAtThreadExit frees;
  }
  return *loans;
}

// Takes the loan out of the list; false if the thread does not have it. A newer
// loan then covers what this one covered.
bool TakeOut(LoanId id, Loan* loan, bool* is_newest) noexcept {
  const auto found =
      std::find_if(loans->open.rbegin(), loans->open.rend(),
                   [=](const Loan& open) { return open.id == id; });
  if (found == loans->open.rend()) return false;
  *is_newest = found == loans->open.rbegin();
  if (!*is_newest) std::swap(std::prev(found)->before, found->before);
  *loan = std::move(*found);
  loans->open.erase(std::next(found).base());
  return true;
}

}  // namespace

LoanId LendState(const StateOfThread& state) {
  std::vector<Loan>& open = OwnLoans().open;
  open.emplace_back();
  Loan loan;
  try {
    loan.before.callbacks = ExchangeThreadCallbacks(state.callbacks);
  } catch (...) {
    open.pop_back();
    throw;
  }
  loan.id = ++loans->last_id;
  loan.before.session = record::ExchangeThreadSession(state.session);
  loan.given = record::ThreadSession();
  open.back() = std::move(loan);
  return open.back().id;
}

void ReturnState(LoanId id) noexcept {
  if (loans == nullptr) return;
  Loan loan;
  bool is_newest = false;
  if (!TakeOut(id, &loan, &is_newest)) return;
  if (is_newest) {
    const record::SessionId now = record::ThreadSession();
    if (now == loan.given || now == record::kNoSession) {
      record::ExchangeThreadSession(loan.before.session);
    }
    // Its result goes last: the captures of callbacks may perform operations.
    ExchangeThreadCallbacks(std::move(loan.before.callbacks));
  }
  if (is_ending && loans != nullptr && loans->open.empty()) FreeLoans();
}

}  // namespace kymo::internal
