# Kymo::annotate, for programs that annotate themselves: kymo/annotate.h.
# Kymo::kymo, all headers (C++20), with sessions within the program:
# kymo/profile.h. A program with it needs no Kymo::annotate.
#
#   find_package(Kymo REQUIRED)
#   target_link_libraries(my_program PRIVATE Kymo::annotate)

foreach(_kymo_component IN LISTS Kymo_FIND_COMPONENTS)
  if(_kymo_component STREQUAL "annotate" OR _kymo_component STREQUAL "kymo")
    set(Kymo_${_kymo_component}_FOUND TRUE)
  elseif(Kymo_FIND_REQUIRED_${_kymo_component})
    set(Kymo_FOUND FALSE)
    set(Kymo_NOT_FOUND_MESSAGE
        "Kymo has no component ${_kymo_component}: it has annotate and kymo.")
  endif()
endforeach()
unset(_kymo_component)

# The real path: where /lib is a link to /usr/lib, the prefix is /usr.
get_filename_component(_kymo_prefix "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
get_filename_component(_kymo_prefix "${_kymo_prefix}/../../.." ABSOLUTE)

if(NOT TARGET Kymo::annotate)
  add_library(Kymo::annotate STATIC IMPORTED)
  set_target_properties(Kymo::annotate PROPERTIES
    IMPORTED_LOCATION "${_kymo_prefix}/lib/libkymo-annotate.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_kymo_prefix}/include")
endif()

# The library stays where it is, with its own libraries beside it. An installed
# program finds it there, too. -Xlinker, since -Wl splits a path at commas. For
# INTERFACE_LINK_DIRECTORIES, CMake would add such an -Wl itself.
if(NOT TARGET Kymo::kymo)
  add_library(Kymo::kymo INTERFACE IMPORTED)
  set_target_properties(Kymo::kymo PROPERTIES
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_INCLUDE_DIRECTORIES "${_kymo_prefix}/include"
    INTERFACE_LINK_OPTIONS
      "-L${_kymo_prefix}/lib/kymo;SHELL:-Xlinker -rpath -Xlinker \"${_kymo_prefix}/lib/kymo\""
    INTERFACE_LINK_LIBRARIES -lkymo)
endif()
unset(_kymo_prefix)
