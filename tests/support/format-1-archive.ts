/**
 * An archive of format 1, byte for byte as a daemon wrote it before there was format 2: a folder with a commit, a changed, a staged
 * and an untracked file, a link, an empty submodule, and one file of an agent's. A link out of the workspace was left out.
 */
export const FORMAT_1_ARCHIVE = Buffer.from(
  [
    "KLUv/QRYLUQAyoIMGkxg3k3aMzBwQETlLIu6MPUwgmwXYqwwmLBO73iAzgpLvGb07CzZ03azf/ptd/cSNg7OQDW4f+Xm0Cu7u3tn2u7Ig/WB4hFOF+o4tb8F",
    "fQHgAY8BKFzEuk5MyD7RT+uDmCmVKlKdGAb6VgsPrW4RbhExk5QoJxbU+qvFTFKQ8NCrmOkoyomZkNhT6y9n7XfsKm2Oa8uNQthctm5OLF2FzuIVMzEV6od6",
    "WvdxUE8rYxY7sYxZ7OjE7uMgZmL+QS32c1lMQl0xE2MnFnQ9ETtyULZ011+tnu65UEA6SEy1YuEgdmIX9S125O7eUkKpv3pkd/urBXdKDt29IZSporsauoiw",
    "kDd0yMJX/nbeYgOpPsjq9NwWpft7mLVSAaEuFBCPzmvYvEvdYrsIm0MvNe+LheyzLlXRZXTxXERYqO2UonStu6WU3d1CKlSqRxa5VBjoPT6X3Rf1o1qhWi3c",
    "+sG36FOWB+nBE2vhy4TKTPPEWjiFyszEWPimVpmd2FWhhH6wfaKWEGtFhZmYCBQ+HvfT7FO3D6YXcS8SWzd2Ytf/XHw9Zllm8hO7foi1yuyoS6y/WkW9U4rQ",
    "27vkYGz9pGzQS+55d3fs7i6pVi0SeLDQU8GsqQeEcBkhTBggWMr48vND1bSxQAgbMyUIJ+lJQuNDhQmNkjRP3HU/h2PkQ4cZYBLDQcGLD8RQg+RAGSFGoOiY",
    "ASUvUaGKHtAQs4GrwMoKqBdCWELLFz1EyhahDLiUgGaOLzqJIUReQJIE0gAH+ORshBUtDLAZwcwRUhxBZDLAJU0QN246aAW+ECGECWOiCCPK0YaZIwqI6eJA",
    "mm4yBY1PzYBHDEKg6OJDBVhgUMAOGQKMJHHBMdL5UsSL0oSPNBrQggJIBxUk2NCBiQV8vKlVqsjwZgiQFWLMADnjCiJaqKOJGXakjKjjAiZDOGkRXEkKAsY1",
    "6JEDF0GUHPADF3OBMxwAOfGEBMGJBLTAAAAZAZxJw4M0W2xhWaEFSBIjJRYSUcgusCShYMCZNca40oMSLViBgwYWjI5MgQESMDRs2YEiCxOkNRwU0GR0jFRx",
    "BccISA0ClEqlnFKppOSIESdQwvakfaIfvePz2Utp554YStcztithtlfaZv9NOK2ll/qP3tnp7o7+o3devXba7Hm2Oqd9Sbu2HOlt39FFB2m3o7f+6J3WD6Ft",
    "1NV3Z5X0zfZS0uzy5WcjbJcd16Y/esd5gzf+04e3pcOS2nbffdhG/KiE19+V3XPHY5SyH3xG+KoC8mmVsXbGt3Nbh82pZ0vdy7Fd++2a7I/Opcvf2tUMJcTO",
    "o8yWTpfv8srb7TXs7tacjC2/6C1TCDP+2vVBb9Oh+2395n13zvb62N3c3mz++H7b9lVijGeD7ZfRxcPYiZmYkAqVgs9962Y/yob9zjYfz7evWYtbe5Z6N1op",
    "xfadxLntfPfSmd/du5+tfE5fcw2p9BPDQ6hriJmYjLGnk32b9Jld2+rcrZ6/UShh/mhxjZ0nxNC9OHPO1OV9K9+6tj/ZiUXYPqjFTG+6E8N3NcRMlJ4YPgHV",
    "YiZGxI50kGKD7mrhjFL9EP7ixQYRhxHqDixneBligzI4nNiwocSFnAyklLNmSRMfJDwT4BhJHB44RjtjcN70KOWskaAIkyQcI5hCzhs6pZw2SXqSliRRgmMk",
    "GQ81DCjluMFiSZKeJDQ+SThGNAxPHE2UcsCwoUkbOWpoALZRBuXGlyzYOOjjiBzBKRD0AEINduLzhAcwbOASxPBRAoGkC6r0ZPHCyBM4fJN5AiWEHbzcMEOX",
    "LDZweSJAfmKpv1bXjxSkH9Wq9ZjFTOyynspVtLqKVj9Xxilmks5PrIVRrEuFmemqcIMZPhwpns/la/NL2u/aZ2rxgxPD6DPH+dNd2zD+hg+pzQ5n+3zCCbvN",
    "B+f7+NFlY/n+XRu9Xth5NrXQXXZ+WT9PV/vrjI42/+fVurdTv04h7HbSQZq7HcT42ufcpe1eCKtrtNW+fuFX2O3BKp/L/2/t6bPOaztM8fTqYKNTOtj8frNR",
    "On61m1L4MpW3tadQ4gu9Stjse7E9ffzadbPvwVzrzLh+tZ6vbe221yp1Xatnh85xdh9fZ/ixVfem7b9zNvli/tqO4uvyy277VJpYja7dvnJmR5+FNGNHsZz/",
    "5M3e5HwuYzdrdh/zjXG2vBQ2vv/ZYU9InVqns9Ips8v4wibfrVPGrrfpc/BRR+ebNltr/1vFHam7Mb4WgLqoYRlyCJERkUAkEBGRpMkxsAIREaGRqQ4SQMAw",
    "iqQ5DGIQCmIQhCFgiIAIDBEQgSGICIiAECJQlJAfuFDAHena/F7154YdjJQZQyY6Ja+RTtUmDXVoTSWw1JYIsLSgySaZD/gfK8EJ+VqbPACy/5nN8yKWn9NM",
    "CsS+xm34Q6XlVAGQUKMNoKoXVQd62VghmgseV7FTQYMJEz5dCXIBUS7YgHaa0mBCJUtk2gXw+Am+tObffnCNr4ERMh5pEWrySJUtDEzJZfxKagd24gfg0+UY",
    "A42ZneTIg20EIPaRyURcfMAAFCI2gGYFI9gB48QHoQQeLgDKkD1Ec6dj7UKzo+l/5DTAuAnymZ3G0X8rRTh0ar1j62ZKrQ004tCwPQGlzBVuxjPxxgqFnWcz",
    "hzIHUOj2/yTy9t8wHnEYI7/CdkjNDDE4pSAtxqDeARDggK44GodAmp4dG9mA0XUAR3dAs+IjD0D2gK69L1BZvlxjayIHsEK+IyBMAw4ff0DFcFZ4fB+k/Ads",
    "2D5b/H8AIYMvwMPYndLjHlyZQbUegMFjC9YpQCAAzFhoOvp6L2OreOBqYaFhCxxAC8xMBM+ymZ+WMfUfUHAFOK+rcAB6sYYdfQ3AzgfXS+d0m2Z8t33wMXlA",
    "aICxrf8ID8ThCMkXgbgrEC/P1StN/oTnWeHU4pUBjYVrlA==",
  ].join(""),
  "base64",
)
