// import_document.h - a Chrome trace from its text: what the importer is,
// without files.
#ifndef KYMO_IMPORTERS_CHROME_IMPORT_DOCUMENT_H_
#define KYMO_IMPORTERS_CHROME_IMPORT_DOCUMENT_H_

#include "absl/status/statusor.h"
#include "importers/chrome/document_reader.h"
#include "importers/chrome/json/text_source.h"
#include "profiler/plugin/trace_importer.h"

namespace kymo::chrome_import {

// Errors: those of DocumentReader.
absl::StatusOr<ImportedTrace> ImportDocument(TextSource& source,
                                             const ReaderOptions& options);

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_IMPORT_DOCUMENT_H_
