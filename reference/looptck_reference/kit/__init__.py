"""The reference's driver for the kit, over the same protocol as any other implementation's."""
