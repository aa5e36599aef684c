"""A shop that bills by usage records, with Stripe's SDK for Python before basil. See ../../clients.mjs"""
import os
import time
import urllib.error
import urllib.parse
import urllib.request

import stripe

VERSION = stripe.VERSION if hasattr(stripe, 'VERSION') else stripe._version.VERSION
client = stripe.StripeClient(os.environ['STRIPE_KEY'], base_addresses={'api': os.environ['STRIPE_URL']},
                             max_network_retries=0)


def ok(step):
    print('ok', step, flush=True)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def submit(url, fields):
    """Submits a form of one of Stripe's pages, like a browser."""
    try:
        urllib.request.build_opener(NoRedirect).open(url, urllib.parse.urlencode(fields).encode())
    except urllib.error.HTTPError as error:
        assert error.code in (302, 303), (error.code, error.read()[:300])


def clock_is_ready():
    for _ in range(400):
        if client.test_helpers.test_clocks.retrieve(clock.id).status == 'ready':
            return
        time.sleep(0.05)
    raise SystemExit('the clock did not move')


print('version:', VERSION)
print('speaks:', stripe.api_version)

start = int(time.time()) + 1
clock = client.test_helpers.test_clocks.create({'frozen_time': start})
clock_is_ready()
customer = client.customers.create({
    'email': 'ada@example.com', 'payment_method': 'pm_card_visa',
    'invoice_settings': {'default_payment_method': 'pm_card_visa'}, 'test_clock': clock.id})
ok('customer and card')

price = client.prices.create({
    'product_data': {'name': 'Calls'}, 'currency': 'usd', 'unit_amount': 2,
    'recurring': {'interval': 'month', 'usage_type': 'metered', 'aggregate_usage': 'max'}})
assert price.recurring.aggregate_usage == 'max'
# This SDK sends capitalized True and False.
assert [each.id for each in client.prices.list({'active': True}).data] == [price.id]
assert client.prices.list({'active': False}).data == []
ok('price that is metered without a meter')

subscription = client.subscriptions.create({'customer': customer.id, 'items': [{'price': price.id}]})
assert subscription.status == 'active'
item = subscription['items'].data[0].id
ok('subscription')

records = client.subscription_items.usage_records
assert records.create(item, {'quantity': 100, 'timestamp': start}).quantity == 100
assert records.create(item, {'quantity': 70, 'timestamp': start, 'action': 'set'}).quantity == 70
assert records.create(item, {'quantity': 5, 'timestamp': 'now'}).subscription_item == item
summaries = client.subscription_items.usage_record_summaries
assert summaries.list(item).data[0].total_usage == 75
ok('usage records')

assert client.invoices.upcoming({'subscription': subscription.id}).total == 150
ok('upcoming invoice')

client.test_helpers.test_clocks.advance(clock.id, {'frozen_time': subscription.current_period_end + 7200})
clock_is_ready()
newest = client.invoices.list({'subscription': subscription.id, 'limit': 1}).data[0]
assert (newest.paid, newest.total) == (True, 150), newest.total
assert summaries.list(item).data[1].invoice == newest.id
ok('renewal that bills them')

flat = client.prices.create({'product_data': {'name': 'Gold'}, 'currency': 'usd', 'unit_amount': 1000,
                             'recurring': {'interval': 'month'}})
session = client.checkout.sessions.create({
    'mode': 'subscription', 'line_items': [{'price': flat.id, 'quantity': 1}],
    'success_url': 'https://shop.example/done'})
form = {'action': 'pay', 'email': 'bob@example.com'}
submit(session.url, {**form, 'card': 'pm_card_visa_chargeDeclined'})
expand = {'expand': ['subscription']}
tried = client.checkout.sessions.retrieve(session.id, expand)
assert (tried.status, tried.subscription.status) == ('open', 'incomplete')
submit(session.url, {**form, 'card': 'pm_card_visa'})
paid = client.checkout.sessions.retrieve(session.id, expand)
assert (paid.status, paid.subscription.status) == ('complete', 'active')
assert paid.subscription.id == tried.subscription.id
ok('Checkout whose subscription is there before it is paid')

assert client.subscriptions.cancel(subscription.id).status == 'canceled'
ok('end')
