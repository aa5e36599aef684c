/**
 * The result of an operation that answers with one JSON object per line. They are read page by page
 * while they are sent, so any number needs little memory.
 */
export class Lines {
  readonly pages: AsyncIterable<readonly object[]>

  constructor(pages: AsyncIterable<readonly object[]>) {
    this.pages = pages
  }
}
