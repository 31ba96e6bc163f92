"""The wild options of Cloth of Gold: terrain, weather, perks, borders and wildlife.

The designer's prototype names these directions and gives no rules for them; the rules are this package's own.
"""
