"""The words of the lab's pages, and pools of finished markup in every encoding that its sites use.

A page's filling is a slice of its language's pool, cut between blocks, so that 18 KB cost a copy and no formatting.
A block is a whole piece of markup that holds no link. About 76 % of a block is invisible (S1-30).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from nephila.lab.draw import Stream, draw, key_of
from nephila.lab.listed import listed
from nephila.lab.mixing import GOLDEN, MASK

VOCABULARY: Final = {
    "ko": listed("""
        검색 정보 학교 연구 자료 공지 사항 게시판 회원 가입 안내 회사 소개 제품 고객 지원 문의 뉴스 신문 방송
        대학교 교수 학생 강의 시험 도서관 논문 컴퓨터 인터넷 데이터 베이스 웹 로봇 수집 문서 통계 분석 시스템
        네트워크 서버 프로그램 개발 기술 과학 수학 물리 화학 역사 문화 예술 음악 영화 사진 여행 서울 부산 대구
        광주 대전 제주도 한국 나라 세계 경제 금융 주식 시장 가격 상품 주문 배송 결제 사랑 친구 가족 어린이 여성
        건강 병원 의사 약국 음식 요리 맛집 커피 운동 축구 야구 선수 경기 우승 날씨 비 눈 바람 봄 여름 가을 겨울
        아침 저녁 오늘 내일 어제 시간 날짜 요일 이번 다음 그리고 하지만 그러나 있습니다 합니다 했습니다 됩니다
        입니다 위하여 대하여 따라서 통하여 모든 우리 여러분 새로운 좋은 많은 작은 큰 빠른 정확한 중요한 필요한
        가능한 다양한 관련 내용 제목 번호 작성자 조회 등록 수정 삭제 목록 이전
    """),
    "en": listed("""
        search information school research library notice board member company product customer support news
        paper university professor student lecture computer internet data base web robot document statistics
        analysis system network server program science history culture music movie photo travel seoul korea
        world economy market price order delivery love friend family health hospital food sports player weather
        today tomorrow time date the of and to in is that for it was on are with as this be at by from or have
        an they which one all were when we there can an your more about page new first other home index list
        view next previous contact copyright
    """),
    "ja": listed("""
        検索 情報 学校 研究 資料 お知らせ 掲示板 会員 登録 案内 会社 紹介 製品 顧客 支援 問い合わせ ニュース
        新聞 放送 大学 教授 学生 講義 図書館 論文 コンピュータ インターネット データ ベース ロボット 収集 文書
        統計 分析 システム ネットワーク サーバ 開発 技術 科学 歴史 文化 音楽 映画 写真 旅行 韓国 日本 世界 経済
        市場 価格 商品 です ます でした これ それ この その ために について として 新しい 多い 大きい 今日 明日
        時間
    """),
    "zh": listed("""
        中文 人民 大學 文化 生活 音樂 公司 市場 世界 中心 今天 明天 天文 水果 山水 日本 上海 北京 大家 子女 文字
        文明 人口 工人 工作 日月 火山 土地 小心 天下 太平 地理 生物 化石 白天 女王 王子 公主 主要 不同 自由 自己
        心理 手工 木材 石油 元旦 年代 月光 日出 出口 入口 左右 上下 中央 古代 名字 名人 合作 合同 同心 和平 平安
        安全 全面 面目
    """),
}

_POOL_BYTES: Final = 512 << 10
_FACES: Final = listed("arial verdana tahoma gulim dotum batang")
_JUNK: Final = "".join(f"{draw(key_of(Stream.POOL, 7), i):016x} = " for i in range(64)).encode("ascii")


@dataclass(frozen=True, slots=True)
class Pool:
    """Finished blocks of one language in one encoding; `starts` are the places where a block begins."""

    blocks: memoryview
    starts: tuple[int, ...]
    entrances: int  # how many blocks begin in the first quarter: where fillings start
    words: tuple[bytes, ...]

    def filling(self, word: int, length: int, turn: int = 0) -> tuple[bytes | memoryview, ...]:
        """Exactly `length` bytes of blocks, from a place that the draw chooses; in pieces, to be copied only once.

        `turn` shows in the padding, so that a page too small for a block shows its versions too.
        """
        starts = self.starts
        start = starts[word % self.entrances]
        whole = starts[-1]
        front: list[bytes | memoryview] = []
        while length > whole - start:  # longer than the pool: once more from the beginning
            front.append(self.blocks[start:])
            length -= whole - start
            start = 0
        end = starts[bisect_right(starts, start + length) - 1]
        return (*front, self.blocks[start:end], padding(length - (end - start), turn))


def padding(length: int, turn: int = 0) -> bytes:
    """A comment of exactly this length, or blank lines where a comment has no room."""
    if length < 8:
        return b"\n" * length
    if turn:
        return b"<!--%b-->" % (b"%x" % (turn * GOLDEN & MASK)).ljust(length - 7, b"=")[: length - 7]
    if length > len(_JUNK):
        return b"<!--" + (_JUNK * (1 + length // len(_JUNK)))[: length - 7] + b"-->"
    return b"<!--%b-->" % _JUNK[: length - 7]


@lru_cache(maxsize=16)
def pool_of(language: str, codec: str) -> Pool:
    vocabulary = VOCABULARY[language]
    key = key_of(Stream.POOL, sorted(VOCABULARY).index(language))
    parts: list[bytes] = []
    starts: list[int] = []
    reached = 0
    number = 0
    while reached < _POOL_BYTES:
        part = _block(vocabulary, draw(key, number), number).encode(codec, "replace")
        starts.append(reached)
        parts.append(part)
        reached += len(part)
        number += 1
    words = tuple(word.encode(codec, "replace") for word in vocabulary)
    entrances = bisect_right(starts, _POOL_BYTES // 4)
    return Pool(memoryview(b"".join(parts)), (*starts, reached), entrances, words)


def _block(vocabulary: tuple[str, ...], word: int, number: int) -> str:
    """One row of a table, a paragraph, a style, or a script, in the taste of the time."""
    key = key_of(Stream.POOL, number)
    count = 3 + word % 20
    text = " ".join(vocabulary[draw(key, i) % len(vocabulary)] for i in range(count))
    face = _FACES[(word >> 8) % len(_FACES)]
    wide, high = 20 + (word >> 16) % 700, 1 + (word >> 26) % 300
    # Names and colours as programs made them: the part of markup that does not compress.
    first, second, third = (f"{draw(key, 100 + i):016x}" for i in range(3))
    match (word >> 36) % 8:
        case 0:
            return (
                f'<script language="JavaScript">\n<!--\nfunction over_{first}(n) {{ if (n == {wide}) '
                f'document.images["img{second}"].src = "/images/{third}_on.gif"; else window.status = "{high}"; }}\n'
                f"//-->\n</script>\n<p>{text}</p>\n"
            )
        case 1:
            style = f"line-height:{high}%;color:#{second[:6]}"
            return f"<p align=justify style='{style}' id=p{first} class=m{third}>{text}.</p>\n"
        case 2:
            return (
                f'<style type="text/css">.c{first[:9]} {{ font-family:{face}; width:{wide}px; color:#{second[:6]}; }}'
                f'</style>\n<div class="c{first[:9]}" id="{third}">{text}</div>\n'
            )
        case _:
            return (
                f'<tr id="r{first}" bgcolor="#{third[6:12]}">'
                f'<td width="{wide}" height="{high}" id="{third}" valign="top">'
                f'<img src="/images/{second}.gif" width="{wide % 99}" height="{high % 99}" border="0" alt="">'
                f'</td><td><font face="{face}" size="2" color="#{third[:6]}">{text}</font></td></tr>\n'
            )
