import { loginPage } from '@tollgate/example-shared'
import { tollgate } from '@/lib/tollgate'

const page = (html: string, status: number) =>
  new Response(html, { status, headers: { 'content-type': 'text/html' } })

export function GET(request: Request): Response {
  return page(loginPage(new URL(request.url).searchParams.get('return_to')), 200)
}

export async function POST(request: Request): Promise<Response> {
  const { accounts } = await tollgate()
  const form = Object.fromEntries(new URLSearchParams(await request.text()))
  const session = await accounts.signIn(form, request.headers.get('origin'))
  if (!session) return page(loginPage(form.return_to, 'E-mail or password is wrong.'), 401)
  const headers = { location: session.location, 'set-cookie': session.cookie }
  return new Response(null, { status: 303, headers })
}
