/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The digits program in C++11: handles that free themselves, errors as exceptions, one executor per thread.
 *
 *     ohnn_cpp_digits WEIGHTS IMAGE...
 *
 * Prints one line per image and the number that were right. Exits 0 if at least 97 % were right, else 1.
 */

#include <cstdint>
#include <cstdio>
#include <exception>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <neural_network_runtime/neural_network_core.h>
#include <neural_network_runtime/neural_network_runtime.h>

#include "digits/files.h"

namespace {

/* ---- Handles ---- */

/* Destroy functions take the address of a pointer and set it to NULL. */
template <typename T, typename R, R (*Destroy)(T **)>
struct Deleter {
    void operator()(T *object) const { Destroy(&object); }
};

template <typename T, typename R, R (*Destroy)(T **)>
using Handle = std::unique_ptr<T, Deleter<T, R, Destroy>>;

using Model = Handle<OH_NNModel, void, OH_NNModel_Destroy>;
using Compilation = Handle<OH_NNCompilation, void, OH_NNCompilation_Destroy>;
using Executor = Handle<OH_NNExecutor, void, OH_NNExecutor_Destroy>;
using TensorDesc = Handle<NN_TensorDesc, OH_NN_ReturnCode, OH_NNTensorDesc_Destroy>;
using Tensor = Handle<NN_Tensor, OH_NN_ReturnCode, OH_NNTensor_Destroy>;

void check(OH_NN_ReturnCode code, const char *call)
{
    if (code != OH_NN_SUCCESS) {
        throw std::runtime_error(std::string(call) + " returned " + std::to_string(code));
    }
}

template <typename T>
T *made(T *object, const char *call)
{
    if (object == nullptr) {
        throw std::runtime_error(std::string(call) + " returned NULL");
    }
    return object;
}

/* ---- Building the model ---- */

template <typename T>
struct DataType;
template <>
struct DataType<bool> {
    static const OH_NN_DataType value = OH_NN_BOOL;
};
template <>
struct DataType<int8_t> {
    static const OH_NN_DataType value = OH_NN_INT8;
};
template <>
struct DataType<int32_t> {
    static const OH_NN_DataType value = OH_NN_INT32;
};
template <>
struct DataType<int64_t> {
    static const OH_NN_DataType value = OH_NN_INT64;
};

class Builder {
public:
    using Shape = std::vector<int32_t>;
    using Indices = std::vector<uint32_t>;

    uint32_t activation(const Shape &shape) { return add(OH_NN_TENSOR, OH_NN_FLOAT32, shape); }

    uint32_t weight(const digits_weight &w)
    {
        return add(OH_NN_TENSOR, OH_NN_FLOAT32, Shape(w.dims, w.dims + w.rank), w.data, w.bytes);
    }

    template <typename T>
    uint32_t scalar(OH_NN_TensorType role, T value)
    {
        return add(role, DataType<T>::value, {}, &value, sizeof value);
    }

    template <typename T>
    uint32_t list(OH_NN_TensorType role, std::initializer_list<T> values)
    {
        return add(role, DataType<T>::value, {static_cast<int32_t>(values.size())}, values.begin(),
                   values.size() * sizeof(T));
    }

    uint32_t operation(OH_NN_OperationType op, Indices params, Indices inputs, const Shape &shape)
    {
        Indices outputs{activation(shape)};
        OH_NN_UInt32Array p = array(params), i = array(inputs), o = array(outputs);
        check(OH_NNModel_AddOperation(model.get(), op, &p, &i, &o), "OH_NNModel_AddOperation");
        return outputs[0];
    }

    Model finish(uint32_t input, uint32_t output)
    {
        OH_NN_UInt32Array i = {&input, 1}, o = {&output, 1};
        check(OH_NNModel_SpecifyInputsAndOutputs(model.get(), &i, &o), "OH_NNModel_SpecifyInputsAndOutputs");
        check(OH_NNModel_Finish(model.get()), "OH_NNModel_Finish");
        return std::move(model);
    }

private:
    static OH_NN_UInt32Array array(Indices &indices)
    {
        return {indices.empty() ? nullptr : indices.data(), static_cast<uint32_t>(indices.size())};
    }

    uint32_t add(OH_NN_TensorType role, OH_NN_DataType type, const Shape &shape, const void *data = nullptr,
                 size_t bytes = 0)
    {
        TensorDesc desc(made(OH_NNTensorDesc_Create(), "OH_NNTensorDesc_Create"));
        check(OH_NNTensorDesc_SetDataType(desc.get(), type), "OH_NNTensorDesc_SetDataType");
        if (!shape.empty()) {
            check(OH_NNTensorDesc_SetShape(desc.get(), shape.data(), shape.size()), "OH_NNTensorDesc_SetShape");
        }
        check(OH_NNModel_AddTensorToModel(model.get(), desc.get()), "OH_NNModel_AddTensorToModel");
        check(OH_NNModel_SetTensorType(model.get(), tensors, role), "OH_NNModel_SetTensorType");
        if (data != nullptr) {
            check(OH_NNModel_SetTensorData(model.get(), tensors, data, bytes), "OH_NNModel_SetTensorData");
        }
        return tensors++;
    }

    Model model{made(OH_NNModel_Construct(), "OH_NNModel_Construct")};
    uint32_t tensors = 0;
};

uint32_t convolution(Builder &b, uint32_t x, const digits_weight &weight, const digits_weight &bias, int32_t side)
{
    return b.operation(OH_NN_OPS_CONV2D,
                       {b.list<int64_t>(OH_NN_CONV2D_STRIDES, {1, 1}), b.list<int64_t>(OH_NN_CONV2D_DILATION, {1, 1}),
                        b.scalar<int8_t>(OH_NN_CONV2D_PAD_MODE, 0),
                        b.scalar<int8_t>(OH_NN_CONV2D_ACTIVATION_TYPE, OH_NN_FUSED_RELU)},
                       {x, b.weight(weight), b.weight(bias)}, {1, side, side, weight.dims[0]});
}

Model build(const digits_weight *weights)
{
    Builder b;
    uint32_t input = b.activation({1, DIGITS_SIDE, DIGITS_SIDE, 1});
    uint32_t x = convolution(b, input, weights[0], weights[1], DIGITS_SIDE);
    x = b.operation(OH_NN_OPS_MAX_POOL,
                    {b.list<int64_t>(OH_NN_MAX_POOL_KERNEL_SIZE, {2, 2}),
                     b.list<int64_t>(OH_NN_MAX_POOL_STRIDE, {2, 2}), b.scalar<int8_t>(OH_NN_MAX_POOL_PAD_MODE, 1)},
                    {x}, {1, DIGITS_SIDE / 2, DIGITS_SIDE / 2, weights[0].dims[0]});
    x = convolution(b, x, weights[2], weights[3], DIGITS_SIDE / 2);
    const int32_t flat = weights[4].dims[1];
    x = b.operation(OH_NN_OPS_RESHAPE, {}, {x, b.list<int32_t>(OH_NN_TENSOR, {1, flat})}, {1, flat});
    x = b.operation(OH_NN_OPS_FULL_CONNECTION, {b.scalar<bool>(OH_NN_FULL_CONNECTION_HAS_BIAS, true)},
                    {x, b.weight(weights[4]), b.weight(weights[5])}, {1, DIGITS_CLASSES});
    x = b.operation(OH_NN_OPS_SOFTMAX, {b.list<int64_t>(OH_NN_SOFTMAX_AXIS, {-1})}, {x}, {1, DIGITS_CLASSES});
    return b.finish(input, x);
}

/* ---- Running ---- */

struct Answer {
    int digit;
    float probability;
};

/* One thread's executor with its tensors. */
class Classifier {
public:
    explicit Classifier(OH_NNCompilation *compilation)
        : executor(made(OH_NNExecutor_Construct(compilation), "OH_NNExecutor_Construct")),
          input(tensor(OH_NNExecutor_CreateInputTensorDesc(executor.get(), 0))),
          output(tensor(OH_NNExecutor_CreateOutputTensorDesc(executor.get(), 0)))
    {
    }

    Answer classify(const char *path)
    {
        float *pixels = static_cast<float *>(OH_NNTensor_GetDataBuffer(input.get()));
        if (!digits_read_image(path, made(pixels, "OH_NNTensor_GetDataBuffer"))) {
            throw std::runtime_error("bad image");
        }
        NN_Tensor *in = input.get(), *out = output.get();
        check(OH_NNExecutor_RunSync(executor.get(), &in, 1, &out, 1), "OH_NNExecutor_RunSync");
        const float *probabilities = static_cast<const float *>(OH_NNTensor_GetDataBuffer(out));
        int digit = digits_best(made(probabilities, "OH_NNTensor_GetDataBuffer"));
        return {digit, probabilities[digit]};
    }

private:
    static NN_Tensor *tensor(NN_TensorDesc *descriptor)
    {
        TensorDesc desc(made(descriptor, "OH_NNExecutor_Create(Input|Output)TensorDesc"));
        return made(OH_NNTensor_Create(0, desc.get()), "OH_NNTensor_Create");
    }

    Executor executor;
    Tensor input, output;
};

/* Shares the images among threads, each with an executor of the one compilation. */
std::vector<Answer> classify_all(OH_NNCompilation *compilation, const std::vector<const char *> &paths, size_t count)
{
    std::vector<Answer> answers(paths.size());
    std::vector<std::exception_ptr> faults(count);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < count; t++) {
        threads.emplace_back([&, t] {
            try {
                Classifier classifier(compilation);
                for (size_t i = t; i < paths.size(); i += count) {
                    answers[i] = classifier.classify(paths[i]);
                }
            } catch (...) {
                faults[t] = std::current_exception();
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    for (const std::exception_ptr &fault : faults) {
        if (fault) {
            std::rethrow_exception(fault);
        }
    }
    return answers;
}

struct Weights {
    digits_weight all[DIGITS_WEIGHTS];

    explicit Weights(const char *path)
    {
        if (!digits_read_weights(path, all)) {
            digits_free_weights(all);
            throw std::runtime_error("bad weights");
        }
    }
    ~Weights() { digits_free_weights(all); }
    Weights(const Weights &) = delete;
    Weights &operator=(const Weights &) = delete;
};

int run(const char *weights_path, const std::vector<const char *> &paths)
{
    Model model = build(Weights(weights_path).all);
    Compilation compilation(made(OH_NNCompilation_Construct(model.get()), "OH_NNCompilation_Construct"));
    model.reset();
    check(OH_NNCompilation_Build(compilation.get()), "OH_NNCompilation_Build");
    std::vector<Answer> answers = classify_all(compilation.get(), paths, 2);
    int right = 0;
    for (size_t i = 0; i < paths.size(); i++) {
        std::printf("%s: %d, probability %.4f\n", paths[i], answers[i].digit, answers[i].probability);
        right += answers[i].digit == digits_label(paths[i]);
    }
    std::printf("ohnn_cpp_digits: %d of %zu right\n", right, paths.size());
    return static_cast<size_t>(right) * 100 >= paths.size() * 97 ? 0 : 1;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 3) {
        std::fprintf(stderr, "usage: ohnn_cpp_digits WEIGHTS IMAGE...\n");
        return 1;
    }
    try {
        return run(argv[1], std::vector<const char *>(argv + 2, argv + argc));
    } catch (const std::exception &fault) {
        std::fprintf(stderr, "ohnn_cpp_digits: %s\n", fault.what());
        return 1;
    }
}
