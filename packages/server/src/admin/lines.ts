/**
 * The result of an operation that responds with one JSON object per line. The objects are read page
 * by page during the response, so that any number of them needs little memory.
 */
export class JsonLinesResult {
  readonly pages: AsyncIterable<readonly object[]>

  constructor(pages: AsyncIterable<readonly object[]>) {
    this.pages = pages
  }
}
