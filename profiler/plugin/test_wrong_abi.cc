// A library that says it was built for another Kymo.
#include <cstdint>
#include <cstdlib>

extern "C" {
extern const uint64_t kymo_exporter_abi;
const uint64_t kymo_exporter_abi = 1;
void kymo_register_exporters(void*, void*);
void kymo_register_exporters(void*, void*) { abort(); }
}
