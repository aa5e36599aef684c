/** Escapes a value for HTML text and quoted attributes. */
export function escapeHtml(text: unknown): string {
  return String(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

/** A piece of HTML whose special characters are already escaped. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/**
 * Template tag that creates `Html`. It escapes the inserted values, except those that are already
 * `Html`.
 */
export function html(strings: TemplateStringsArray, ...values: readonly unknown[]): Html {
  let text = strings[0] ?? ''
  values.forEach((value, at) => {
    text += toText(value) + (strings[at + 1] ?? '')
  })
  return new Html(text)
}

function toText(value: unknown): string {
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return value.map(toText).join('')
  return value === null || value === undefined || value === false ? '' : escapeHtml(value)
}
