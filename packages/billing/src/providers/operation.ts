/**
 * Names a request by its method and path, such as `POST /v1/customers/{id}`. Keeps only the given
 * words of the path: everything else is an id or a token, which must not get into logs and traces.
 */
export function buildOperationName(
  method: string,
  path: string,
  words: ReadonlySet<string>,
): string {
  const [withoutQuery = ''] = path.split('?')
  const segments = withoutQuery.split('/').slice(1)
  return `${method} /${segments.map((each) => (words.has(each) ? each : '{id}')).join('/')}`
}
