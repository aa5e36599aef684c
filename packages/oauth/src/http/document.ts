/** Makes text harmless in HTML, in attributes as well. */
export function escapeHtml(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
}

export function documentOf(title: string, stylesheetUrl: string | null, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
${
  stylesheetUrl === null
    ? ''
    : `<link rel="stylesheet" href="${escapeHtml(stylesheetUrl)}">
`
}</head>
<body>
<main>
${body}
</main>
</body>
</html>
`
}
