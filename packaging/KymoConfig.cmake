# Kymo::annotate, for programs that annotate themselves: kymo/annotate.h.
#
#   find_package(Kymo REQUIRED)
#   target_link_libraries(my_program PRIVATE Kymo::annotate)

foreach(_kymo_component IN LISTS Kymo_FIND_COMPONENTS)
  if(NOT _kymo_component STREQUAL "annotate" AND
     Kymo_FIND_REQUIRED_${_kymo_component})
    set(Kymo_FOUND FALSE)
    set(Kymo_NOT_FOUND_MESSAGE
        "This package of Kymo has no component ${_kymo_component}: CMake gets \
Kymo::annotate only. Build with Bazel what records from inside a program.")
  endif()
endforeach()
unset(_kymo_component)

set(Kymo_annotate_FOUND TRUE)

if(NOT TARGET Kymo::annotate)
  # The real path: where /lib is a link to /usr/lib, the prefix is /usr.
  get_filename_component(_kymo_prefix "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
  get_filename_component(_kymo_prefix "${_kymo_prefix}/../../.." ABSOLUTE)
  add_library(Kymo::annotate STATIC IMPORTED)
  set_target_properties(Kymo::annotate PROPERTIES
    IMPORTED_LOCATION "${_kymo_prefix}/lib/libkymo-annotate.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_kymo_prefix}/include")
  unset(_kymo_prefix)
endif()
