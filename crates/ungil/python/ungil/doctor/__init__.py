"""What a user can ask of their own environment and process.

    python -m ungil.doctor                                  who would turn the GIL on here
    python -m ungil.doctor.constants pandas my_package      constants that threads contend on
    python -m ungil.doctor.scaling my_package.module:function
    pytest --gil-off                                        fails the test that turned the GIL on
"""
