"""The usual names of Life objects by their apgcodes.

Sources: "List of common still lifes" and "List of common oscillators" on LifeWiki (conwaylife.com/wiki), by how often
random soups leave them, and the Life Lexicon (S. A. Silver, D. M. Greene, D. Bell; conwaylife.com/ref/lexicon).
"""

from __future__ import annotations

_STILL_LIFES = """
xs4_33 block; xs6_696 beehive; xs7_2596 loaf; xs5_253 boat; xs6_356 ship; xs4_252 tub; xs8_6996 pond
xs7_25ac long boat; xs12_g8o653z11 ship-tie; xs6_25a4 barge; xs14_g88m952z121 half-bakery; xs8_69ic mango
xs7_178c eater 1; xs8_25ak8 long barge; xs6_39c aircraft carrier; xs14_69bqic paperclip; xs8_35ac long ship
xs9_31ego integral sign; xs8_3pm shillelagh; xs10_g8o652z01 boat-tie; xs6_bd snake; xs14_g88b96z123 big S
xs16_g88m996z1221 bi-pond; xs9_178ko trans-boat with tail; xs11_g8o652z11 boat tie ship; xs9_4aar hat
xs10_35ako very long ship; xs9_25ako very long boat; xs8_178k8 tub with tail; xs12_raar mirrored table
xs18_rhe0ehr dead spark coil; xs8_312ko canoe; xs16_j1u0696z11 beehive on dock; xs14_6970796 cis-mirrored bun
xs15_354cgc453 moose antlers; xs10_32qr block on table; xs14_j1u066z11 block on dock; xs16_69egmiczx1 scorpion
xs10_178kk8 beehive with tail; xs17_2ege1ege2 twin hat; xs10_69ar loop; xs7_3lo long snake; xs14_69bo8a6 fourteener
xs14_39e0e93 cis-mirrored bookend; xs9_178kc cis-boat with tail; xs14_6is079c cis-rotated bookend
xs11_g0s453z11 elevener; xs20_3lkkl3z32w23 mirrored dock; xs12_330f96 block on cap
xs11_ggm952z1 trans-loaf with tail; xs10_358gkc cis-shillelagh; xs14_69e0eic trans-mirrored bun
xs12_330fho trans-block on long bookend; xs10_g0s252z11 tub with nine; xs10_0drz32 broken snake
xs14_39e0eic trans-bookend and bun; xs12_178c453 eater head siamese eater tail; xs12_178br block on cover
xs15_j1u06a4z11 cis-boat on dock; xs12_3hu066 cis-block on long bookend; xs8_31248c very long snake
xs10_3215ac boat with long tail; xs9_312453 long shillelagh; xs13_g88m96z121 beehive at loaf
xs15_259e0eic trans-bun and wing; xs10_3542ac long integral; xs9_25a84c tub with long tail
xs14_39e0e96 cis-bookend and bun; xs8_32qk hook with tail; xs11_69lic loaf siamese loaf; xs9_g0g853z11 long canoe
xs11_178jd eleven loop; xs13_4a960ui cis-loaf on table; xs11_178kic cis-loaf with tail
xs16_69bob96 symmetric scorpion; xs10_1784ko claw with tail; xs15_3lkm96z01 bee hat
xs18_69is0si96 cis-mirrored dove; xs14_g8o0e96z121 trans-rotated bun; xs16_259e0e952 cis-mirrored wing
xs13_69e0mq trans-snake on bun; xs12_256o8a6 boat tie eater tail; xs12_2egm93 snorkel loop
xs12_6960ui beehive on table; xs11_2530f9 cis-boat on table; xs10_ggka52z1 trans-barge with tail
xs15_3lk453z121 trans-boat on dock; xs14_6960uic beehive on cap; xs12_o4q552z01 beehive at beehive
xs13_0g8o653z121 long boat tie ship; xs13_2530f96 cis-boat on cap; xs12_2egm96 beehive with hooked tail
xs11_g0s253z11 trans-boat with nine; xs15_4a9raic 15-bent-paperclip; xs12_0ggm96z32 beehive with nine
xs10_g8ka52z01 very long barge; xs11_ggka53z1 trans-long boat with tail; xs15_259e0e96 cis-bun and wing
xs11_2ege13 hungry hat; xs11_2560ui trans-boat on table; xs11_g0s256z11 cis-boat with nine; xs13_321fgkc tapeworm
xs14_69la4ozx11 loaf back tie loaf; xs18_2egm9a4zx346 loaf tie eater with tail
xs19_69icw8ozxdd11 mango with block on dock; xs16_0ca952z2553 trans-bun and dove; xs18_c4o0ehrz321 rotated house
xs12_0g8o652z121 boat tie long boat; xs16_3hu0uh3 cis-mirrored long bookend; xs16_3lk453z321 trans-ship on dock
xs12_69iczx113 trans-mango with tail; xs13_31egma4 boat with hooked nine; xs14_4a9m88gzx121 bi-loaf 2
xs14_g8o69a4z121 trans-bun bridge loaf; xs12_g4q453z11 claw at claw; xs15_0gilicz346 big S with tub
xs17_2ege1t6zx11 paperclip with tail; xs13_32qb96 crinkly heptomino with hooked tail
xs13_g8ge96z121 beehive bridge bun; xs15_259e0e93 cis-bookend and wing; xs11_178b52 boat with hooked tail
xs18_j1u0uh3z11 meta-dock and long bookend; xs16_0ggca96z3443 pond bridge wing
xs10_0cp3z32 carrier siamese carrier; xs16_69960uic pond on cap; xs10_0j96z32 very long shillelagh
xs13_354djo house siamese shillelagh; xs9_178426 long hook with tail; xs18_0mmge96z1221 block on bun tie bun
xs11_3586246 snake with feather; xs15_259e0eio trans-bookend and wing; xs11_31461ac carrier with feather
xs10_4al96 barge siamese loaf; xs14_j1u413z11 carrier siamese dock; xs14_g4s079cz11 shift-mirrored bookend
xs11_g8ka52z11 long^3 boat; xs22_69b88cz69d113 cis-mirrored worm; xs14_3hu0696 cis-beehive on long bookend
xs10_178ka4 cis-barge with tail; xs13_31ege13 krake; xs12_3123cko ship tie snake
xs14_31egm96 beehive with hooked nine; xs18_3lk453z3443 pond on dock; xs12_31egma twelve loop
xs13_354mp3 bookend siamese shillelagh; xs28_0g8ka9m88gz122dia521 O quad-loaf; xs14_1no3tg sidewalk
xs13_08ka96z321 claw at loaf
"""

_OSCILLATORS = """
xp2_7 blinker; xp2_7e toad; xp2_318c beacon; xp3_co9nas0san9oczgoldlo0oldlogz1047210127401 pulsar
xp15_4r4z4r4 pentadecathlon; xp2_2a54 clock; xp2_31ago bipole; xp2_0g0k053z32 quadpole
xp2_g8gid1e8z1226 great on-off; xp8_gk2gb3z11 figure eight; xp2_rhewehr spark coil; xp4_37bkic mold
xp2_31a08zy0123cko quadpole tie ship; xp2_g0k053z11 tripole; xp4_ssj3744zw3 mazing; xp8_g3jgz1ut blocker
xp3_695qc8zx33 jam; xp30_w33z8kqrqk8zzzx33 trans-queen bee shuttle; xp30_w33z8kqrqk8zzzw33 cis-queen bee shuttle
xp2_wbq23z32 trans-beacon on table; xp2_318c0f9 cis-beacon on table; xp2_j1u062goz11 cis-beacon on dock
xp2_31egge13 test tube baby; xp4_8eh5e0e5he8z178a707a871 Achim's p4; xp2_0c813z255d1e8 cis-beacon on anvil
xp5_idiidiz01w1 octagon 2; xp6_ccb7w66z066 unix; xp2_ca9baiczw32 1 beacon; xp2_25a88gz8ka221 tub test tube baby
xp2_03lk453z6401 trans-beacon on dock; xp14_j9d0d9j tumbler; xp2_c8b8aczw33 block on griddle
xp3_025qzrq221 trans-block on candlefrobra; xp3_4hh186z07 caterer; xp8_wgovnz234z33 Coe's p8
xp3_025qz32qq1 cis-block on candlefrobra; xp2_xrhewehrz253 boat tie spark coil; xp2_g45h1sz03 fox
xp5_3pmwmp3zx11 fumarole
xp46_330279cx1aad3y833zx4e93x855bc cis-twin bees shuttle
xp46_330279cx1aad3zx4e93x855bcy8cc trans-twin bees shuttle
"""

_SPACESHIPS = """
xq4_153 glider; xq4_6frc lightweight spaceship; xq4_27dee6 middleweight spaceship; xq4_27deee6 heavyweight spaceship
"""


def _named(lines: str) -> dict[str, str]:
    entries = (entry.strip().partition(" ") for line in lines.strip().splitlines() for entry in line.split(";"))
    return {code: name for code, _, name in entries}


NAMES: dict[str, str] = {**_named(_STILL_LIFES), **_named(_OSCILLATORS), **_named(_SPACESHIPS)}
"""Usual names by apgcode."""


def name_of(code: str) -> str:
    """Return the usual name, or the code itself without one."""
    return NAMES.get(code, code)
