"""Articles as WikiText writes them, made up: for what its real ones would show."""

from __future__ import annotations

__all__ = ["ARTICLES"]

_LAKE = """
 = Lake Orrin =

 Lake Orrin is a lake in the north of the county . It is 3 @.@ 4 kilometres long , and its
 surface lies 1 @,@ 204 metres above the sea ; in winter it falls to \u2212 12 \u00b0 C .

 = = History = =

 The farmers ' path around it ( now the " Ring Road " ) was built by well @-@ known engineers in
 1871 . The lake 's only island , [ see map ] , was sold : nobody knows why !

 = = = Today = = =

 Is it still deep ? Boats cross it twice a day in summer , and the ice is thick enough for people
 to walk on in most of the winters that anybody can remember .
"""
_PAINTER = """ = Marta Quill =

 Marta Quill ( born 2 May 1934 ) was a painter and printer from Trest . Her ' night ' pictures
 { all of them small } were shown in N of 12 towns .
"""

ARTICLES = [{"page": text.replace("\n", " \n")} for text in (_LAKE, _PAINTER)]
"""Rows of the hub's table; the first one is longer than 64 tokens of any tokenizer."""
