"""A Django project that copies an account with dj-stripe and follows its webhooks. See ../../clients.mjs"""
import io
import os
import socketserver
import threading
import time
import uuid
import wsgiref.simple_server

import django
import stripe
from django.conf import settings
from django.core.management import call_command
from django.urls import include, path

KEY = os.environ['STRIPE_KEY']
settings.configure(
    SECRET_KEY='for one run',
    ALLOWED_HOSTS=['127.0.0.1'],
    INSTALLED_APPS=['django.contrib.auth', 'django.contrib.contenttypes', 'djstripe'],
    DATABASES={'default': {
        'ENGINE': 'django.db.backends.sqlite3',
        'NAME': os.path.join(os.getcwd(), 'copy.sqlite'),
        'OPTIONS': {
            'timeout': 20,
            'transaction_mode': 'IMMEDIATE',
            'init_command': 'PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY;',
        },
    }},
    # The tables as they are in the end. Its migrations take minutes, and have nothing to do with Stripe.
    MIGRATION_MODULES={'djstripe': None},
    DEFAULT_AUTO_FIELD='django.db.models.BigAutoField',
    ROOT_URLCONF=__name__,
    USE_I18N=False,
    USE_TZ=True,
    STRIPE_API_HOST=os.environ['STRIPE_URL'],
    STRIPE_TEST_SECRET_KEY=KEY,
    STRIPE_LIVE_MODE=False,
    DJSTRIPE_FOREIGN_KEY_TO_FIELD='id',
)
django.setup()
urlpatterns = [path('stripe/', include('djstripe.urls', namespace='djstripe'))]

from django.core.wsgi import get_wsgi_application  # noqa: E402
from djstripe import models  # noqa: E402
from djstripe.settings import djstripe_settings  # noqa: E402

stripe.api_key = KEY
MODELS = ['Account', 'Product', 'Price', 'Coupon', 'PromotionCode', 'TaxRate', 'Customer',
          'PaymentMethod', 'SetupIntent', 'Subscription', 'SubscriptionItem', 'SubscriptionSchedule', 'Invoice',
          'InvoiceItem', 'LineItem', 'PaymentIntent', 'Charge', 'Refund', 'BalanceTransaction', 'Dispute',
          'Session', 'Event', 'WebhookEndpoint']


def ok(step):
    print('ok', step, flush=True)


def until(what, find):
    for _ in range(400):
        found = find()
        if found:
            return found
        time.sleep(0.05)
    for trigger in models.WebhookEventTrigger.objects.exclude(exception=''):
        print(trigger.traceback)
    raise SystemExit('%s did not happen' % what)


class Server(socketserver.ThreadingMixIn, wsgiref.simple_server.WSGIServer):
    daemon_threads = True


class Quiet(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *_):
        pass


def fill():
    """Something of everything."""
    product = stripe.Product.create(name='Gold')
    price = stripe.Price.create(product=product.id, currency='usd', unit_amount=1000,
                                recurring={'interval': 'month'})
    coupon = stripe.Coupon.create(percent_off=20, duration='forever')
    code = stripe.PromotionCode.create(promotion={'type': 'coupon', 'coupon': coupon.id}, code='OFF')
    rate = stripe.TaxRate.create(display_name='VAT', percentage=20, inclusive=False)
    customer = stripe.Customer.create(
        email='ada@example.com', payment_method='pm_card_visa', tax_exempt='none',
        tax_id_data=[{'type': 'eu_vat', 'value': 'DE123456789'}],
    )
    method = stripe.PaymentMethod.list(customer=customer.id, type='card').data[0]
    stripe.Customer.modify(customer.id, invoice_settings={'default_payment_method': method.id})
    stripe.Customer.create_source(customer.id, source='tok_mastercard')
    stripe.SetupIntent.create(customer=customer.id, payment_method='pm_card_visa', confirm=True,
                              payment_method_types=['card'])
    stripe.InvoiceItem.create(customer=customer.id, amount=500, currency='usd', description='Setting up')
    subscription = stripe.Subscription.create(
        customer=customer.id, items=[{'price': price.id}], discounts=[{'promotion_code': code.id}],
        default_tax_rates=[rate.id],
    )
    stripe.SubscriptionSchedule.create(from_subscription=subscription.id)
    stripe.CreditNote.create(invoice=subscription.latest_invoice, amount=100, credit_amount=100)
    intent = stripe.PaymentIntent.create(amount=700, currency='usd', customer=customer.id, confirm=True,
                                         payment_method=method.id, payment_method_types=['card'])
    stripe.Refund.create(payment_intent=intent.id, amount=300)
    stripe.PaymentIntent.create(amount=900, currency='usd', customer=customer.id, confirm=True,
                                payment_method='pm_card_createDispute', payment_method_types=['card'])
    stripe.checkout.Session.create(mode='subscription', customer=customer.id, success_url='https://shop.example/',
                                   line_items=[{'price': price.id, 'quantity': 1}])
    return customer, subscription


print('version: %s with stripe %s' % (models.webhooks._get_version(), stripe.VERSION
                                      if hasattr(stripe, 'VERSION') else stripe._version.VERSION))
print('speaks:', djstripe_settings.STRIPE_API_VERSION)
call_command('migrate', verbosity=0, run_syncdb=True)
ok('tables')
customer, subscription = fill()
ok('an account with something of everything')

server = wsgiref.simple_server.make_server('127.0.0.1', 0, get_wsgi_application(), Server, Quiet)
threading.Thread(target=server.serve_forever, daemon=True).start()
secret_path = uuid.uuid4()
made = models.WebhookEndpoint._api_create(
    url='http://127.0.0.1:%d/stripe/webhook/%s/' % (server.server_port, secret_path),
    api_version=djstripe_settings.STRIPE_API_VERSION,
    enabled_events=['*'],
    metadata={'djstripe_uuid': str(secret_path)},
    api_key=KEY,
)
models.WebhookEndpoint.sync_from_stripe_data(made, api_key=KEY)
ok('webhook endpoint')

kept = []
for name in MODELS:
    said = io.StringIO()
    call_command('djstripe_sync_models', name, stdout=said, stderr=said, fail_on_error=False)
    assert 'rror' not in said.getvalue(), said.getvalue()
    count = getattr(models, name).objects.count()
    assert count > 0, (name, said.getvalue())
    kept.append('%s %d' % (name, count))
ok('sync of %d models (%s)' % (len(MODELS), ', '.join(kept)))

copy = models.Subscription.objects.get(id=subscription.id)
assert copy.customer.id == customer.id and copy.status == 'active'
invoice = models.Invoice.objects.get(id=subscription.latest_invoice)
assert invoice.stripe_data['total'] == 1440, invoice.stripe_data['total']
assert models.Customer.objects.get(id=customer.id).default_payment_method is not None
ok('what the copy says')

stripe.Customer.modify(customer.id, name='Ada Lovelace')
until('customer.updated', lambda: models.Customer.objects.get(id=customer.id).name == 'Ada Lovelace')
stripe.SubscriptionSchedule.release(stripe.SubscriptionSchedule.list(customer=customer.id).data[0].id)
stripe.Subscription.cancel(subscription.id)
until('customer.subscription.deleted',
      lambda: models.Subscription.objects.get(id=subscription.id).status == 'canceled')
new = stripe.Customer.create(email='bob@example.com', payment_method='pm_card_visa')
card = stripe.PaymentMethod.list(customer=new.id, type='card').data[0]
price = models.Price.objects.first()
second = stripe.Subscription.create(customer=new.id, items=[{'price': price.id}], default_payment_method=card.id)
until('invoice.paid', lambda: models.Invoice.objects.filter(id=second.latest_invoice).exists()
      and models.Invoice.objects.get(id=second.latest_invoice).stripe_data['status'] == 'paid')
until('all of them', lambda: not models.WebhookEventTrigger.objects.filter(processed=False).exists())
received = models.WebhookEventTrigger.objects.filter(valid=True)
kinds = set(received.values_list('event__type', flat=True))
ok('%d kinds of verified webhooks' % len(kinds))

said = io.StringIO()
call_command('djstripe_sync_models', stdout=said, stderr=said, fail_on_error=False)
failures = [line for line in said.getvalue().split('\n') if 'rror' in line or 'Failed' in line]
print('\n'.join(failures))
ok('sync of everything, %d models not' % len([line for line in failures if 'Failed' in line or 'listing' in line]))
server.shutdown()
