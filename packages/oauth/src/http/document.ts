import { isRightToLeft } from '@tollgate/http'

/** HTML in which all inserted values are escaped. */
export class HtmlDocument {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A value in a template. `null` renders nothing, an array one line per element. */
type Part = HtmlDocument | string | null | readonly HtmlDocument[]

/** Builds markup from a template, escaping every value that is not `HtmlDocument`. */
export function html(strings: TemplateStringsArray, ...values: readonly Part[]): HtmlDocument {
  return new HtmlDocument(String.raw({ raw: strings }, ...values.map(textOf)))
}

function textOf(value: Part): string {
  if (value === null) return ''
  if (typeof value === 'string') return escapeHtml(value)
  return value instanceof HtmlDocument ? value.text : value.map(({ text }) => text).join('\n')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/**
 * Escapes text for use in HTML, including attribute values.
 * @example
 * const heading = `<h1>${escapeHtml(client.name)}</h1>`
 */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}

export interface DocumentHead {
  readonly title: string
  readonly language: string
  /** URL of the stylesheet of the page. `null` if there is no stylesheet. */
  readonly stylesheet: string | null
}

export function renderDocument(
  { title, language, stylesheet: href }: DocumentHead,
  body: HtmlDocument,
): string {
  const stylesheet = href && html`<link rel="stylesheet" href="${href}">\n`
  const direction = isRightToLeft(language) ? html` dir="rtl"` : null
  return html`<!doctype html>
<html lang="${language}"${direction}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
${stylesheet}</head>
<body>
<main>
${body}
</main>
</body>
</html>
`.text
}

/** Joins the parts of a page text to HTML. Escapes all parts that are not `HtmlDocument`. */
export function joinHtml(parts: readonly (HtmlDocument | string | number)[]): HtmlDocument {
  return new HtmlDocument(
    parts
      .map((part) => (part instanceof HtmlDocument ? part.text : escapeHtml(String(part))))
      .join(''),
  )
}

/** Renders hidden form fields. */
export function renderHiddenFields(
  fields: Iterable<readonly [name: string, value: string]>,
): HtmlDocument[] {
  return [...fields].map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
}
