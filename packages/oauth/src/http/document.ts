import { type Html, html, isRightToLeft } from '@tollgate/http'

export interface DocumentHead {
  readonly title: string
  readonly language: string
  /** URL of the stylesheet of the page. `null` if there is no stylesheet. */
  readonly stylesheet: string | null
}

export function renderDocument(
  { title, language, stylesheet: href }: DocumentHead,
  body: Html,
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

/** Renders hidden form fields. */
export function renderHiddenFields(
  fields: Iterable<readonly [name: string, value: string]>,
): Html[] {
  return [...fields].map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
}
