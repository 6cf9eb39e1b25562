// page_text.h - the page's own text, around its data.
//
//   sink.Append(PageBeforeData());
//   ...                               // blocks of data_block.h
//   sink.Append(PageAfterData());
//
// join_page.py makes them of the files in page/. The data stand in an element
// with the id "data".
#ifndef KYMO_EXPORTERS_HTML_PAGE_TEXT_H_
#define KYMO_EXPORTERS_HTML_PAGE_TEXT_H_

#include <string_view>

namespace kymo::html {

std::string_view PageBeforeData();
std::string_view PageAfterData();

// The same of memory_timeline.html (exporters/memory_timeline).
std::string_view MemoryPageBeforeData();
std::string_view MemoryPageAfterData();

}  // namespace kymo::html

#endif  // KYMO_EXPORTERS_HTML_PAGE_TEXT_H_
