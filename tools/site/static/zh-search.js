// Sphinx 9.0 names the stemmer of Chinese pages and does not ship it: the words in Latin letters are stemmed as in English.
class ChineseStemmer {
  constructor() {
    this.english = new EnglishStemmer();
  }
  stemWord(word) {
    return this.english.stemWord(word);
  }
}
window.ChineseStemmer = ChineseStemmer;

// The index has Chinese words of two letters and more, so a query is cut into words, too, and single letters are left out.
// Without a segmenter it is cut at blanks and punctuation.
function splitQuery(query) {
  const parts = query.split(/[^\p{Letter}\p{Number}_]+/gu).filter((part) => part);
  if (typeof Intl.Segmenter === "undefined") return parts;
  const words = new Intl.Segmenter("zh", { granularity: "word" });
  return parts.flatMap((part) =>
    /\p{Script=Han}/u.test(part) ? [...words.segment(part)].map((word) => word.segment).filter((word) => word.length > 1) : [part]
  );
}
