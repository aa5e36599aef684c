import { auth, scope } from '@/lib/tollgate'

export const GET = auth('api', scope('place-orders', 'check-status'), (_request, { user }) =>
  Response.json({ status: 'shipped', mayOrder: user.tokenCan('place-orders') }),
)
