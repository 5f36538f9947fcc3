# cmake --install BUILD --prefix P, and packages by cpack: programs, manual pages, completions, headers of plug-ins, decks with
# reference data, Python, documents. Programs find what they need relative to themselves, so the tree may be moved.
set(shared ${CMAKE_INSTALL_DATADIR}/scree)
set(programs scree scree_bench scree_replay)
install(TARGETS scree_bench scree_replay RUNTIME)
if(SCREE_VTK)
  install(TARGETS scree_vtk_encoding LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/scree)
endif()

# find_package(scree): the targets scree::core and scree::program.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/scree)
set_target_properties(scree PROPERTIES EXPORT_NAME program)
install(TARGETS scree_plugin_interface scree EXPORT scree-targets RUNTIME)
install(EXPORT scree-targets NAMESPACE scree:: DESTINATION ${package})
include(CMakePackageConfigHelpers)
configure_package_config_file(scripts/cmake/scree-config.cmake.in ${PROJECT_BINARY_DIR}/scree-config.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/scree-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/scree-config.cmake ${PROJECT_BINARY_DIR}/scree-config-version.cmake DESTINATION ${package})
install(FILES ${SCREE_INTERFACE_FOLDER}/scree_interface.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/scree)
foreach(header IN LISTS SCREE_INTERFACE_HEADERS)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES src/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/scree/${folder})
endforeach()

foreach(program IN LISTS programs)
  install(FILES docs/man/${program}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES packaging/completions/${program} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endforeach()
install(DIRECTORY inputs DESTINATION ${shared})
install(DIRECTORY tests/reference DESTINATION ${shared}/tests)
install(DIRECTORY postprocess DESTINATION ${shared} USE_SOURCE_PERMISSIONS
        PATTERN "__pycache__" EXCLUDE PATTERN "build" EXCLUDE PATTERN "*.egg-info" EXCLUDE)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN site EXCLUDE PATTERN man EXCLUDE PATTERN figures EXCLUDE)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_PACKAGE_VENDOR "the authors of scree")
set(CPACK_PACKAGE_CONTACT "the maintainers of scree")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # what the programs are linked with
string(REGEX MATCH "^[0-9]+[.][0-9]+" petsc_version "${PETSC_VERSION}")
set(CPACK_DEBIAN_PACKAGE_DEPENDS "openmpi-bin, libpetsc-real${petsc_version}")  # which they load
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-numpy, python3-h5py, python3-matplotlib, python3-vtk9, xvfb, libgl1-mesa-dri, ffmpeg")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, g++, libopenmpi-dev, libfmt-dev")  # for plug-ins
include(CPack)
