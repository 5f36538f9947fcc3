# cmake --install BUILD --prefix P, and packages by cpack: programs, decks with reference data, Python, documents. Programs find what they
# need relative to themselves, so the tree may be moved.
include(GNUInstallDirs)
set(shared ${CMAKE_INSTALL_DATADIR}/scree)
install(TARGETS scree scree_verify scree_bench scree_replay RUNTIME)
install(DIRECTORY inputs DESTINATION ${shared})
install(DIRECTORY tests/reference DESTINATION ${shared}/tests)
install(DIRECTORY postprocess DESTINATION ${shared} USE_SOURCE_PERMISSIONS
        PATTERN "__pycache__" EXCLUDE PATTERN "build" EXCLUDE PATTERN "*.egg-info" EXCLUDE)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN site EXCLUDE)
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
set(CPACK_DEBIAN_PACKAGE_DEPENDS openmpi-bin)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-numpy, python3-h5py, python3-matplotlib, python3-vtk9")
include(CPack)
