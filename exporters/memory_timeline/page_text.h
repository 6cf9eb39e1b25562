// page_text.h - the page around the data of a memory timeline.
//
// page = PageBeforeData() + JSON + PageAfterData(). The JSON stands in a script
// element of type application/json; it must not hold "</".
#ifndef KYMO_EXPORTERS_MEMORY_TIMELINE_PAGE_TEXT_H_
#define KYMO_EXPORTERS_MEMORY_TIMELINE_PAGE_TEXT_H_

#include <string_view>

namespace kymo::memory_timeline {

std::string_view PageBeforeData();
std::string_view PageAfterData();

}  // namespace kymo::memory_timeline

#endif  // KYMO_EXPORTERS_MEMORY_TIMELINE_PAGE_TEXT_H_
