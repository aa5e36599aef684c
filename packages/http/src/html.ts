/** HTML whose text is already escaped. Created by the template tag `html`. */
export class Html {
  /** The markup. */
  readonly text: string

  /** Use this only for markup that contains no text of others, such as a stylesheet. */
  constructor(text: string) {
    this.text = text
  }
}

/**
 * A value in a template. `null`, `undefined` and `false` render nothing, and an array renders its
 * elements one after the other.
 */
export type HtmlValue = Html | string | number | false | null | undefined | readonly HtmlValue[]

/**
 * Template tag that creates HTML. It escapes all inserted values, except those that are `Html`.
 * @example
 * ```ts
 * const rows = names.map((name) => html`<li>${name}</li>`)
 * const page = html`<ul>${rows}</ul>`.text
 * ```
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = strings[0] ?? ''
  values.forEach((value, at) => {
    text += toMarkup(value) + (strings[at + 1] ?? '')
  })
  return new Html(text)
}

function toMarkup(value: HtmlValue): string {
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return value.map(toMarkup).join('')
  return value === null || value === undefined || value === false ? '' : escapeHtml(String(value))
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
 * ```ts
 * const heading = `<h1>${escapeHtml(client.name)}</h1>`
 * ```
 */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}
