import { startPage } from '@tollgate/example-shared'
import { freshToken } from '@/lib/tollgate'

export const GET = freshToken(
  (_request, { csrfToken }) =>
    new Response(startPage(csrfToken), { headers: { 'content-type': 'text/html' } }),
)
