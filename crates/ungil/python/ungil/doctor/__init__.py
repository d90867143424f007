"""What a user can ask of their own process.

    python -m ungil.doctor.constants pandas my_package
    python -m ungil.doctor.scaling my_package.module:function
"""
