// Command peer guards Eno's ResourceSlices with controller-runtime: the webhook that eno-webhook is measured against. It has
// rules C1 and C2, and nothing else of eno-webhook's.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func main() {
	var options ctrl.Options
	var hooks webhook.Options
	flag.StringVar(&hooks.Host, "host", "127.0.0.1", "address for admission")
	flag.IntVar(&hooks.Port, "port", 9443, "port for admission")
	flag.StringVar(&hooks.CertDir, "cert-dir", "", "folder of tls.crt and tls.key")
	flag.StringVar(&options.HealthProbeBindAddress, "health-probe-bind-address", ":8081", "address for health")
	flag.StringVar(&options.Metrics.BindAddress, "metrics-bind-address", ":8080", "address for metrics; 0 for none")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	options.WebhookServer = webhook.NewServer(hooks)
	if err := run(ctrl.SetupSignalHandler(), options); err != nil {
		ctrl.Log.Error(err, "cannot run")
		os.Exit(1)
	}
}

func run(ctx context.Context, options ctrl.Options) error {
	options.Scheme = runtime.NewScheme()
	if err := schemeBuilder.AddToScheme(options.Scheme); err != nil {
		return err
	}
	options.Cache = cache.Options{DefaultTransform: cache.TransformStripManagedFields()}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	// The API server has priority and fairness; the default of 20 requests a second would delay reviews.
	config.QPS = -1
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return err
	}
	if err := indexReferences(ctx, mgr.GetCache()); err != nil {
		return err
	}
	guard := &sliceGuard{
		cached:  mgr.GetClient(),
		live:    mgr.GetAPIReader(),
		decoder: admission.NewDecoder(mgr.GetScheme()),
	}
	mgr.GetWebhookServer().Register("/slices-delete", &admission.Webhook{Handler: admission.HandlerFunc(guard.deleteHook)})
	mgr.GetWebhookServer().Register("/slices-update", &admission.Webhook{Handler: admission.HandlerFunc(guard.updateHook)})
	if err := mgr.AddReadyzCheck("webhook", mgr.GetWebhookServer().StartedChecker()); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("cache", synced(mgr.GetCache())); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func synced(c cache.Cache) func(*http.Request) error {
	return func(req *http.Request) error {
		ctx, cancel := context.WithTimeout(req.Context(), time.Second)
		defer cancel()
		if !c.WaitForCacheSync(ctx) {
			return fmt.Errorf("the cache is not synced")
		}
		return nil
	}
}
