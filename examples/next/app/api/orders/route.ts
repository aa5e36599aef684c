import { auth, scopes } from '@/lib/tollgate'

export const GET = auth('api', scopes('place-orders', 'check-status'), () =>
  Response.json([{ id: 1, status: 'shipped' }]),
)
