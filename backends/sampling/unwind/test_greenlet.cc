// A library that looks like the one of greenlets: one function of it has a
// caller which its stack is not to show.
namespace greenlet {

class UserGreenlet {
 public:
  void inner_bootstrap(void (*run)(void*), void* argument);
};

void UserGreenlet::inner_bootstrap(void (*run)(void*), void* argument) {
  run(argument);
  asm volatile("");  // no tail call
}

}  // namespace greenlet

extern "C" void RunInTestGreenlet(void (*run)(void*), void* argument) {
  // Volatile, so that it is called as it is, not a copy made for this call.
  void (greenlet::UserGreenlet::*volatile bottom)(void (*)(void*), void*) =
      &greenlet::UserGreenlet::inner_bootstrap;
  greenlet::UserGreenlet thread;
  (thread.*bottom)(run, argument);
  asm volatile("");
}
